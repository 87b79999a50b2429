package report

import (
	"fmt"
	"strings"
)

// shortProgram is how many lines are shown unasked.
const shortProgram = 60

// viewProgram is the job as one text.
func viewProgram(r *Report) any {
	p := r.Program
	if p == nil {
		return nil
	}
	text := p.Text()
	lines := strings.Count(text, "\n")
	v := struct {
		Words, Text string
		Open        bool
	}{Text: text, Open: lines <= shortProgram}
	different := 0
	for _, t := range p.Threads {
		different += t.Sequences
	}
	v.Words = fmt.Sprintf("What ranks %s do, %d calls, as one text of %d lines.", p.Ranks, p.Calls, lines)
	if different > len(p.Threads) {
		v.Words += fmt.Sprintf(" There are %d different sequences of calls: lines that not all ranks have say which ranks do.", different)
	}
	if p.MaxLines > 0 {
		v.Words += fmt.Sprintf(" It ends after %d lines, where there are more; cairn program prints them.", p.MaxLines)
	}
	return v
}
