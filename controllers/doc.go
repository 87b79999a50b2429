// Package controllers is the operator: it takes a TracedMPIJob from its creation to its report.
//
// A reconciliation calls the steps in reconciler.go, one file each, until one has to wait. The
// results of a step are conditions in the status, which is the only memory: every step can be
// repeated, and another operator continues where one was killed. The operator does not read Secrets
// or buckets. It creates the MPIJob and the Jobs that run the cairn command, and reads their
// results from termination messages.
//
// The steps are methods of a pass, in this package. The logic that they use is in packages that do
// not depend on steps: naming, quote, podstatus, task, storage, refusal. Package inject adds the
// tracer to the MPIJob.
package controllers
