// Package ranks reports how each rank spent its time, and the time of all ranks in each function,
// at each call site, and in the computation between two calls.
package ranks
