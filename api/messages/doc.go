// Package messages defines what the operator and the cairn command exchange: termination messages,
// exit codes, and the objects in a job's storage that both name.
//
// Messages are plain structs, encoded as JSON. The package imports neither Kubernetes nor the
// trace, so that both sides can import it.
//
// Invariants.
//   - A message has at most MaxBytes bytes; from a pod of the job, at most MaxSharedBytes. Encode
//     refuses a longer one. The Fit method of each type shortens it.
//   - Fields are only added. A reader ignores unknown fields and takes a missing one for its zero
//     value: an operator reads the messages of images that were pinned by an earlier release.
//     testdata has fixtures of each release, which every later one must read.
//   - Exit codes never change their meaning.
package messages
