package report_test

import (
	"strings"
	"testing"

	"github.com/cairn-mpi/cairn/analyzer/report/section"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTitle: program, job and date, as far as they are known.
func TestTitle(t *testing.T) {
	for _, c := range []struct {
		about section.Provenance
		title string
	}{
		{section.Provenance{Executable: "/opt/app/stencil", Job: "tracedmpijob/stencil", Start: "2026-11-22T14:03:59Z"}, "stencil · tracedmpijob/stencil · 2026-11-22 14:03 UTC · Cairn"},
		{section.Provenance{Executable: "a.out", Start: "2026-11-22T15:03:00+01:00"}, "a.out · 2026-11-22 14:03 UTC · Cairn"},
		{section.Provenance{Job: "default/x"}, "default/x · Cairn"},
		{section.Provenance{}, "Cairn report"},
	} {
		rep := assemble(t, stencil(2, 10, -1, 1))
		rep.Provenance = c.about
		page, err := rep.HTML()
		require.NoError(t, err)
		assert.Contains(t, string(page), "<title>"+c.title+"</title>")
		header, _, _ := strings.Cut(string(page), "</header>")
		for part := range strings.SplitSeq(strings.TrimSuffix(c.title, " · Cairn"), " · ") {
			assert.Contains(t, header, part)
		}
	}
}
