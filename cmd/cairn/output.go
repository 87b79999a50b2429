package main

import (
	"fmt"
	"io"
)

// output is where commands print to. It keeps the first error for the end: what is cut short by a full disk is no success,
// and no line of a table has to ask.
type output struct {
	io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	if o.err == nil && err != nil {
		o.err = fmt.Errorf("cannot print: %w", err)
	}
	return n, err
}

// unchecked is where the root command prints to, without its errors: a standard output that is closed or full is no
// failure here.
func unchecked(w io.Writer) io.Writer {
	if o, ok := w.(*output); ok {
		return o.Writer
	}
	return w
}
