// Package pod has the commands that only the pods of a TracedMPIJob use: install and probe (init
// containers), ship (sidecar), check-storage, make-bucket, delete-prefix, fetch and resolve.
// Commands that also have a form for people, such as merge --job, are in the package of that form.
package pod
