package cpus

import (
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/report/section"
)

// Sentence returns a sentence on the CPU usage of ranks; "" if it is unknown.
func Sentence(r *section.Run) string {
	c := section.Of[Findings](r).CPUs
	if c == nil {
		return ""
	}
	text := fmt.Sprintf("A rank had a CPU for %d%% of its time", section.Whole(c.Share))
	if c.RunDelay != nil {
		text += fmt.Sprintf(", and was ready to run and waited for one in %d%%", section.Whole(*c.RunDelay))
	}
	if c.Stopped > 0 {
		text += fmt.Sprintf(", and its container's CPU limit stopped it for %.2g%%", 100*c.Stopped)
	}
	return text + "."
}
