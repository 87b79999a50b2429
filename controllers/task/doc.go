// Package task runs cairn commands as Jobs. A Task is a command with its options, NewJob returns
// its Job, and an Outcome is what the termination messages and exit codes of the Job's pods report.
package task
