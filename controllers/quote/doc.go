// Package quote words what others said for a condition: the text of a termination message, or of a log's end, cut to a
// sentence or two.
package quote
