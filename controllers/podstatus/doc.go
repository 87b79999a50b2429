// Package podstatus interprets the status of pods: when a launcher started and how it ended, why a
// pod does not start, how it failed, what its probe found, how its sidecar ended. Its functions do
// no I/O: they take pods and return texts and values.
package podstatus
