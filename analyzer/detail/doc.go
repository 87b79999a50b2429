// Package detail takes a few calls out of a run, to be seen one by one.
//
// In go the event log of a run, a window of time and some ranks; out comes a Detail: the calls that these ranks made there
// by name, and the messages between them. It is bounded (MaxCalls, MaxRanks): where there are more calls the window is
// narrowed around its middle. The event log has it all, so the trace is not read again: the threads of the chosen ranks are
// gone through up to the end of the window.
package detail
