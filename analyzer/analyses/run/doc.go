// Package run describes a run as a whole: its duration, its clock, the accuracy of its times, and
// defects of the trace that a reader must know before relying on the other findings.
package run
