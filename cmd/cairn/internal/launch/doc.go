// Package launch runs the user's command (mpirun, say) for `cairn run` and `cairn replay`. Signals
// for Cairn reach the command once. Processes that it leaves running after it was asked to end are
// waited for, then killed.
package launch
