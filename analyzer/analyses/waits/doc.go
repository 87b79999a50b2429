// Package waits sums wait states up: by pattern, by who waited, where, and for whom. What a wait state is, package waitstate
// says.
package waits
