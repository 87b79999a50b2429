// Package podstatus reads the status of pods: when a launcher started and how it ended, why a pod does not start, what
// befell it, what its probe found, how its sidecar ended. It asks nobody: pods come in, words and values go out.
package podstatus
