// Package timing has the times of calls: how exactly they are kept, what rounding does to them, and how they are written.
//
// In go intervals in ticks (the gap before a call and its duration) with the terminal of the call, a number here; out come
// blocks of bytes, and the intervals again. Settings says which of the three modes a trace has:
//
//   - lossless: every tick. Encoder and Decoder write intervals by an adaptive model (contexts, intervalModel) and a range coder;
//   - lossy: the same on a Grid of values; Rounder puts intervals on it;
//   - aggregated: an Aggregate for each signature in their place.
//
// SumsEncoder and SumsDecoder have sums in place of the times of calls where there is no room for these. ClockMap turns ticks into
// nanoseconds of a node's CLOCK_MONOTONIC.
//
// Invariants of lossy timing (bound.go):
//
//   - an interval is within the error of its function (Settings.IntervalBound);
//   - a moment is within MomentTicks ticks, and MomentBound knows from the intervals where it is nearer;
//   - intervals that a reader gives are rounded to themselves, so that rounding twice is rounding once.
//
// A block begins anew: nothing of what was before it is needed to read it, and which numbers signatures have does not matter,
// only which are equal. Pilgrim (Wang, Balaji, Snir, SC '21, §3.2) keeps aggregated times, or durations within a relative
// error; gaps, bounded moments and the coder are this tracer's own (docs/decisions/0042). The range coder is rANS (Duda, 2013).
//
// It imports trace/codec and nothing else of this module.
package timing
