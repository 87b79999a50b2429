// Package detail looks closer at the ranks that the verdict names: call by call where others wait for them, and where they
// spend their time.
//
// Single calls are taken out of the event log of the run (Take), for a window of time and some ranks: the calls that these
// ranks made there by name, and the messages between them. A Detail is bounded (MaxCalls, MaxRanks): where there are more
// calls the window is narrowed around its middle. The trace is not read again: the threads of the chosen ranks are gone
// through up to the end of the window.
package detail
