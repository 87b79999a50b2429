// Package clock reads the clocks of a rank together, and keeps of such samples those that matter.
//
// In go readings of the clock that records are stamped with, of CLOCK_MONOTONIC and of CLOCK_REALTIME; out comes a list of
// samples between which times are on a line (timing.Clock), of bounded length however long the rank runs.
package clock
