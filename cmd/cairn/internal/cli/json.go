package cli

import (
	"encoding/json"
	"io"
)

// WriteJSON prints a value as JSON on one line, for programs.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
