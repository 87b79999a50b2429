// Package timeline reads the calls of all ranks in one order.
//
// Its input is a trace and the Clocks that synchronize its nodes (package clock). Its output is
// every call of every thread with its times in nanoseconds since the start of the run, ordered by
// time of entry.
//
// The result of matching does not depend on this order: messages and collectives are matched by
// order on each rank (package match). A small clock error costs memory for pending operations, but
// never causes a wrong match.
//
// Clocks with a Window restrict the run to a part of it (window.go). Calls around it are included,
// because matching needs them, but time passes only within the window.
package timeline
