// Package launch runs the user's command (mpirun, say) as `cairn run` and `cairn replay` do: signals for Cairn reach it
// once, and whatever it leaves running when it was asked to end is waited for, and then killed.
package launch
