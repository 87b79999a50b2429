package cli

import (
	"fmt"
	"io"
)

// Output is where commands print to. It keeps the first error for the end: what is cut short by a full disk is no success,
// and no line of a table has to ask.
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

// Unchecked is where the root command prints to, without its errors: a standard output that is closed or full is no
// failure here.
func Unchecked(w io.Writer) io.Writer {
	if o, ok := w.(*Output); ok {
		return o.Writer
	}
	return w
}
