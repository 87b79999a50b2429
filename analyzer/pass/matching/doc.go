// Package matching goes through all calls of a run once, in the order of time, and keeps what later passes need.
//
// In goes a trace, with a clock map or without: the same traversal then makes one if the clocks turn out as guessed. Out come
// the wait states (package waitstate), some 8 bytes each, in a spool; sums of them by call site and by partner; the event log
// of calls and what they depend on (package eventlog); the profile; when each location's part of the run begins and ends; what
// found no partner; and the moments between which parts of the run can be looked at alone.
//
// Memory grows with locations, call sites and pending operations, never with calls or waits.
package matching
