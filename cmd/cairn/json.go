package main

import (
	"encoding/json"
	"io"
)

// writeJSON prints a value on one line, for tools.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
