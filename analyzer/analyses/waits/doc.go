// Package waits sums wait states by pattern, waiting rank, call site, and the rank that was waited
// for. Wait states are defined in package waitstate.
package waits
