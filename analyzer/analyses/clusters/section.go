package clusters

import (
	"embed"

	"github.com/cairn-mpi/cairn/analyzer/report/section"
)

//go:embed clusters.html.tmpl
var files embed.FS

// Sections are the sections of the report that show the findings.
var Sections = []section.Section{{Name: "clusters", Title: "Clusters", Files: files, View: view}}

func view(r *section.Run) any { return section.Present(section.Find[Findings](r)) }
