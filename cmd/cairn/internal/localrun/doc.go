// Package localrun is `cairn run`: it puts the tracer into a folder, runs the command with it, and
// makes traces and reports of what its ranks recorded.
package localrun
