// Package detail shows details of the ranks that the verdict names: the single calls where others
// wait for them, and where they spend their time.
//
// Take reads single calls from the event log of the run, for an interval and some ranks: the named
// calls of these ranks, and the messages between them. A Detail is bounded (MaxCalls, MaxRanks): if
// there are more calls, the interval is narrowed around its middle. The trace is not read again;
// the event logs of the chosen ranks' threads are read up to the end of the interval.
package detail
