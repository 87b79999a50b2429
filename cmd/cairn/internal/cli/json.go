package cli

import (
	"encoding/json"
	"io"
)

// WriteJSON prints a value on one line, for tools.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
