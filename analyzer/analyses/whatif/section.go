package whatif

import (
	"embed"

	"github.com/cairn-mpi/cairn/analyzer/report/section"
)

//go:embed whatif.html.tmpl
var files embed.FS

// Sections are the sections of the report that show the findings.
var Sections = []section.Section{{Name: "whatif", Title: "What if", Files: files, View: func(r *section.Run) any {
	return section.Some(section.Of[Findings](r).WhatIf)
}}}
