// Package detail extracts single calls of a run for display.
//
// Its input is the event log of a run, a window of time and some ranks. Its result is a Detail: the
// calls of these ranks in the window, with names, and the messages between them. It is bounded
// (MaxCalls, MaxRanks): if there are more calls the window is narrowed around its middle. The event
// log contains all data, so the trace is not read again; the threads of the chosen ranks are read
// up to the end of the window.
package detail
