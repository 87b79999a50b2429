// Package values keeps the results of calls that vary: the value streams of signatures.
//
// Its input is, call by call, the terminal and the values for the streams of its signature: written
// one by one (Call), or as the words of a record that they are in (Sources). Its results are the
// streams of a thread as runs, for checkpoints, blocks and the trace (Streams).
//
// Results are usually the same again: such a call only increments a counter.
package values
