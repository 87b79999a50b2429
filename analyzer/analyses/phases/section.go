package phases

import (
	"embed"

	"github.com/cairn-mpi/cairn/analyzer/report/section"
)

//go:embed phases.html.tmpl
var files embed.FS

// Sections are the sections of the report that show the findings.
var Sections = []section.Section{{Name: "phases", Title: "Phases", Files: files, View: func(r *section.Run) any {
	return section.Present(section.Of[Findings](r).Phases)
}}}
