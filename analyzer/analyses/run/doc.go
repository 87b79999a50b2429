// Package run says of a run how long it took, on what clock, how exact its times are, and what a reader must know about
// the trace before believing the rest.
package run
