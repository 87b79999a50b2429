// Package timing has the times of calls: their precision, how they are rounded, and how they are
// written.
//
// The input is intervals in ticks (the gap before a call and its duration) with the terminal of the
// call, which is only a number here. The output is blocks of bytes, and the intervals again.
// Settings selects one of three modes:
//
//   - lossless: every tick. Encoder and Decoder write intervals by an adaptive model (contexts,
//     intervalModel) and a range coder;
//   - lossy: the same on a Grid of values; Rounder puts intervals on it;
//   - aggregated: only an Aggregate for each signature.
//
// SumsEncoder and SumsDecoder write sums in place of the times of calls where there is no room for
// these. ClockMap converts ticks to nanoseconds of a node's CLOCK_MONOTONIC.
//
// Invariants of lossy timing (bound.go):
//
//   - an interval is within the error of its function (Settings.IntervalBound);
//   - a moment is within MomentTicks ticks, and MomentBound derives a tighter bound from the
//     intervals;
//   - intervals returned by a reader are rounded to themselves, so that rounding twice is rounding
//     once.
//
// A block is self-contained: reading it needs nothing of earlier ones. The numbers of signatures do
// not matter, only which are equal. Pilgrim (Wang, Balaji, Snir, SC '21, §3.2) keeps aggregated
// times, or durations within a relative error; gaps, bounded moments and the coder are this
// tracer's own (docs/decisions/0042). The range coder is rANS (Duda, 2013).
//
// It imports trace/codec and nothing else of this module.
package timing
