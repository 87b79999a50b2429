// Package clock samples the clocks of a rank together, and thins out a growing list of samples.
//
// A sample is a reading of the clock of the records, of CLOCK_MONOTONIC and of CLOCK_REALTIME.
// Times between two samples are interpolated (timing.Clock). The list has bounded length however
// long the rank runs.
package clock
