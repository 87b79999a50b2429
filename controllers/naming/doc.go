// Package naming has the labels and names of what the operator makes for a TracedMPIJob, and the labels and annotations by
// which queues know it.
package naming
