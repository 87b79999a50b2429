// Package quote shortens texts of other programs for conditions: the text of a termination message,
// or of the end of a log, cut to a sentence or two.
package quote
