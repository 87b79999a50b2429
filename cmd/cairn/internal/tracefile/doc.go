// Package tracefile opens a trace by a path or URL of the command line, and what belongs to it: the
// clock map beside it, and the part of the run and the ranks that a command was asked for.
package tracefile
