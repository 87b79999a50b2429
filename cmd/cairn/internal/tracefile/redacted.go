package tracefile

import (
	"bytes"

	"github.com/cairn-mpi/cairn/analyzer/redact"
	"github.com/cairn-mpi/cairn/internal/readlimit"
	"github.com/cairn-mpi/cairn/trace"
)

// Everything lists all kinds of content that can be redacted.
var Everything = []string{"paths", "hosts", "arguments"}

// RedactedContent returns the content of a trace without what is to be redacted.
func RedactedContent(f *File, what redact.What) (*trace.Content, error) {
	content, err := f.StreamedContent()
	if err != nil {
		return nil, err
	}
	redact.Content(content, what)
	return content, nil
}

// Redacted returns a redacted copy of a trace in memory.
func Redacted(f *File, what redact.What) (*trace.Reader, error) {
	content, err := RedactedContent(f, what)
	if err != nil {
		return nil, err
	}
	var file bytes.Buffer
	if err := trace.Write(&file, content); err != nil {
		return nil, err
	}
	return trace.Open(bytes.NewReader(file.Bytes()), int64(file.Len()), readlimit.Option(int64(file.Len())))
}
