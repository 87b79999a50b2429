package architecture

import (
	"fmt"
	"strings"
)

// A Text is a generated part of a file, between two lines with its marks.
type Text struct {
	File       string // relative to the repository
	Begin, End string
	Render     func() string
}

// Texts are all generated parts of files.
var Texts = []Text{
	{"docs/architecture.md", "<!-- rooms: begin -->", "<!-- rooms: end -->", Table},
}

// Replace returns content with the part generated again.
func (t Text) Replace(content string) (string, error) {
	before, rest, found := strings.Cut(content, t.Begin)
	_, after, closed := strings.Cut(rest, t.End)
	if !found || !closed {
		return "", fmt.Errorf("%s has no lines %q and %q", t.File, t.Begin, t.End)
	}
	head, _, _ := strings.Cut(rest, "\n") // the rest of the line with the mark
	indent := before[strings.LastIndexByte(before, '\n')+1:]
	return before + t.Begin + head + "\n" + t.Render() + indent + t.End + after, nil
}

// Table returns which rooms may import which, in Markdown.
func Table() string {
	var b strings.Builder
	b.WriteString("\n| room | folders | what is done there | may import | from elsewhere |\n|---|---|---|---|---|\n")
	for _, r := range Rooms {
		may := strings.Join(r.May, ", ")
		if may == "" {
			may = "none"
		}
		outside := [...]string{"libraries", "Go's standard library only", "libraries, Kubernetes, object storage", "libraries, object storage"}[r.Outside]
		fmt.Fprintf(&b, "| **%s** | `%s` | %s | %s | %s |\n", r.Name, strings.Join(r.Folders, "`, `"), r.About, may, outside)
	}
	return b.String() + "\n"
}
