package v1alpha1

// RetryAnnotation on a TracedMPIJob that has ended without a report restarts it at the first failed
// step, each time the annotation's value changes. The new Jobs use the operator's current image.
const RetryAnnotation = "cairn.dev/retry"
