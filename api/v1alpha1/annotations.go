package v1alpha1

// RetryAnnotation on a TracedMPIJob that has ended without a report starts the first step that failed again, each time
// its value changes: with new Jobs, and with the image that the operator has then.
const RetryAnnotation = "cairn.dev/retry"
