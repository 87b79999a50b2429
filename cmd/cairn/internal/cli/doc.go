// Package cli is what all commands share except traces and storage: errors of the command line,
// exit codes, numeric flags with limits, standard output, signals, profiles, progress, and the
// termination message of a pod's command.
package cli
