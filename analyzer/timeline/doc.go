// Package timeline puts the calls of all ranks in one order.
//
// In goes a trace and the Clocks that lay its nodes' clocks over one another (package clock). Out comes every call of
// every thread with its times in nanoseconds since the run began, sorted by the time it was entered.
//
// The order is a convenience, not a premise: messages and collectives are matched by order on each rank (package
// match), so a clock that is a little off costs memory for pending operations, never a wrong match.
//
// Clocks with a Window tell of a part of the run only (window.go): calls around it come too, since matching needs them, but time
// passes within the window alone.
package timeline
