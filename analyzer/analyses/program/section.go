package program

import (
	"embed"
	"fmt"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/report/section"
)

//go:embed program.html.tmpl
var files embed.FS

// Sections are the sections of the report that show the findings.
var Sections = []section.Section{{Name: "program", Title: "Program", Files: files, View: view}}

// shortProgram is the number of lines that are shown at first.
const shortProgram = 60

// view returns the program text of the job.
func view(r *section.Run) any {
	type words struct {
		Words, Text string
		Open        bool
	}
	found := section.Of[Findings](r)
	p := found.Program
	switch {
	case p == nil && found.Omitted != "":
		return words{Words: found.Omitted}
	case p == nil:
		return nil
	}
	text := p.Text()
	lines := strings.Count(text, "\n")
	v := words{Text: text, Open: lines <= shortProgram}
	different := 0
	for _, t := range p.Threads {
		different += t.Sequences
	}
	v.Words = fmt.Sprintf("What ranks %s do, %d calls, as one text of %d lines.", p.Ranks, p.Calls, lines)
	if different > len(p.Threads) {
		v.Words += fmt.Sprintf(" There are %d different sequences of calls: lines that not all ranks have are marked with their ranks.", different)
	}
	if p.MaxLines > 0 {
		v.Words += fmt.Sprintf(" Only the first %d lines are shown; cairn program prints all of them.", p.MaxLines)
	}
	return v
}
