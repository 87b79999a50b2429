// Package rewrite has the commands that write traces or programs: merge, reduce, redact,
// simulate, skeleton, copy.
package rewrite
