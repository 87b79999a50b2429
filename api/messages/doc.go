// Package messages is what the operator and the cairn command say to each other: termination messages, exit codes,
// and the objects in a job's storage that both name.
//
// In and out go plain structs as JSON. The package imports neither Kubernetes nor the trace, so both sides import it.
//
// Invariants.
//   - A message has at most MaxBytes bytes, from a pod of the job MaxSharedBytes: Encode refuses a longer one, Fit of each
//     type makes it short enough.
//   - Fields are only added. A reader ignores fields that it does not know, and takes a missing one for its zero value:
//     an operator reads the messages of an image that was pinned by an earlier release. testdata has fixtures of each
//     release, which every later one must read.
//   - Exit codes never change their meaning.
package messages
