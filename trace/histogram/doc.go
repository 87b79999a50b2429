// Package histogram counts numbers in a size that does not grow with their count.
//
// The input is numbers (Builder.Add) or statistics of intervals (Builder.AddStatistics). The output
// is a Histogram: single numbers while they are few, else bins, four per power of two.
//
// Invariants:
//
//   - Count, Sum, Min and Max are exact (Sum up to 64 bits), and the counts of the bins add up to
//     Count;
//   - bins are in order, do not overlap, and none is empty;
//   - a quantile from 1% to 99% is within 25%, since the rarest numbers share the first and the
//     last bin.
//
// ScalaTrace II (Wu and Mueller, ICS 2013, §2.3, §3.1) keeps parameters and times that differ in
// histograms. It imports trace/timing for its bins, and nothing else of this module.
package histogram
