package recorder

import "strings"

// printable makes a text of the application fit for the trace: UTF-8.
func printable(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }
