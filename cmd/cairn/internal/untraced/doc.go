// Package untraced explains why no rank of a command was traced. It observes the command's
// processes while none of them has recorded anything, and reports what it saw: that the tracer's
// library was or was not loaded into them, and what of the process or its file goes with that.
package untraced
