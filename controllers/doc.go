// Package controllers is the operator: it takes a TracedMPIJob from its creation
// to its report.
//
// A reconciliation walks through the steps in reconciler.go, one file each, until
// one has to wait. What a step has found out is a condition in the status, which
// is the only memory: every step can be repeated, and another operator goes on
// where one was killed. The operator reads no Secret and no bucket. It creates the
// MPIJob and Jobs that run the cairn command, and learns what those found from
// their termination messages.
//
// The steps are methods of a pass, here. What they decide with is in packages that
// know no step: naming, quote, podstatus, task, storage, refusal; inject makes the
// MPIJob traced.
package controllers
