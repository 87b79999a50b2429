// Package ranks says how each rank spent its time, and all ranks together in each function, at each call site and
// computing between two calls.
package ranks
