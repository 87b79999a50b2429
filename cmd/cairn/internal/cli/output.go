package cli

import (
	"encoding/json"
	"fmt"
	"io"
)

// Output is the writer that commands print to. It keeps the first error until the end, so that
// output cut short by a full disk is a failure and callers need not check each line.
type Output struct {
	io.Writer
	Err error
}

func (o *Output) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	if o.Err == nil && err != nil {
		o.Err = fmt.Errorf("cannot print: %w", err)
	}
	return n, err
}

// Unchecked returns the writer of the root command without its errors, for output for which a
// closed or full standard output is not a failure.
func Unchecked(w io.Writer) io.Writer {
	if o, ok := w.(*Output); ok {
		return o.Writer
	}
	return w
}

// WriteJSON prints a value as JSON on one line, for programs.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
