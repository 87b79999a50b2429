// Package task runs cairn commands as Jobs: a Task says which and how, NewJob is its Job, and an Outcome is what the
// termination messages and exit codes of the Job's pods say.
package task
