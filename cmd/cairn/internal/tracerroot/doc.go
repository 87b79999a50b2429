// Package tracerroot makes the folder that has a program traced on this machine: libraries,
// configuration and spool, with buffers on a tmpfs, and does what has to be done beside the program
// while it runs.
package tracerroot
