// Package event log keeps what one pass of matching has found, so that nobody has to match again.
//
// In goes a match.Watcher's view of all calls, in the order of time or section by section (Recorder); out comes a Log: for
// each location its calls with their times, and what each call could not end before — other calls, by their location and
// number, and collective operations. Replay, root causes and accounts read it location by location, in slabs: what one location
// needs stays in the cache while its calls of a slab are looked at, which it does not where calls are taken in the order of
// time.
//
// A call takes some 8 bytes: numbers of variable length, relative to those before. What is more than a Spool may hold in
// memory goes to a temporary file, compressed to 1 to 4 bytes a call, so memory grows with ranks and pending operations, not
// with calls.
//
// # Streams
//
// Each location has three, since they are known at different times:
//
//   - calls, as they come: function and call site, times, collectives that are entered;
//   - completions, when all that a call depends on is known, in the order of calls (match.Handler.Settled);
//   - posts: for each call that others may depend on, how many do. Who replays it keeps the call's times so long.
//
// Marks in the streams of calls end the slabs: what lies between two was made at about the same time.
package eventlog
