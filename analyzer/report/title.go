package report

import (
	"path"
	"strings"
	"time"
)

// titleParts returns what the page is about: the program, the job, and when it ran; unknown parts
// are omitted.
func (r *Report) titleParts() []string {
	var parts []string
	for _, part := range []string{path.Base(r.Provenance.Executable), r.Provenance.Job, r.date()} {
		if part != "" && part != "." {
			parts = append(parts, part)
		}
	}
	return parts
}

// title returns the title of the window: "stencil · default/stencil · 2026-11-22 14:03 UTC ·
// Cairn".
func (r *Report) title() string {
	parts := r.titleParts()
	if len(parts) == 0 {
		return "Cairn report"
	}
	return strings.Join(append(parts, "Cairn"), " · ")
}

// date returns when the run began, to the minute.
func (r *Report) date() string {
	start, err := time.Parse(time.RFC3339, r.Provenance.Start)
	if err != nil {
		return ""
	}
	return start.UTC().Format("2006-01-02 15:04 UTC")
}
