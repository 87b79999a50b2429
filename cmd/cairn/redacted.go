package main

import (
	"bytes"

	"github.com/cairn-mpi/cairn/analyzer/redact"
	"github.com/cairn-mpi/cairn/internal/readlimit"
	"github.com/cairn-mpi/cairn/trace"
)

// everything is what can be redacted.
var everything = []string{"paths", "hosts", "arguments"}

func redactedContent(f *traceFile, what redact.What) (*trace.Content, error) {
	content, err := f.StreamedContent()
	if err != nil {
		return nil, err
	}
	redact.Content(content, what)
	return content, nil
}

// redacted is a trace without what is to go, in memory.
func redacted(f *traceFile, what redact.What) (*trace.Reader, error) {
	content, err := redactedContent(f, what)
	if err != nil {
		return nil, err
	}
	var file bytes.Buffer
	if err := trace.Write(&file, content); err != nil {
		return nil, err
	}
	return trace.Open(bytes.NewReader(file.Bytes()), int64(file.Len()), readlimit.Option(int64(file.Len())))
}
