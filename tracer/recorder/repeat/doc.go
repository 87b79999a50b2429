// Package repeat recognizes calls that repeat earlier ones, so that their keys need not be written.
//
// Its input is the records of a thread and, for each call whose key was written, what the key
// depends on (key.Pattern). Its results are the terminal of a single call (Thread.Match,
// Thread.Repeat), and how many whole iterations of the thread's loop follow (Thread.EnterLoop). The
// caller writes the keys of all other calls, and consumes the times of all. Either way leads to the
// same state, byte by byte.
//
// Loops are found by the grammar (Pilgrim, Wang et al., SC '21, §2.2); see loop.go.
package repeat
