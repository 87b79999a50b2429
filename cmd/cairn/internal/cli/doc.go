// Package cli is what all commands share but traces and storage: errors of the command line and exit codes, flags that
// are numbers with limits, standard output, signals, profiles, progress, and the termination message of a pod's command.
package cli
