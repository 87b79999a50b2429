// Package pod has the commands of a TracedMPIJob's pods that are for nobody else: install and probe (init containers),
// ship (sidecar), check-storage, make-bucket, delete-prefix, fetch and resolve. Those with a form for people, such as merge
// --job, are with that.
package pod
