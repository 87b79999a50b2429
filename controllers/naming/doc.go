// Package naming has the names and labels of the objects that the operator creates for a
// TracedMPIJob, and the labels and annotations that queues use.
package naming
