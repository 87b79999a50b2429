package verdict

import (
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// barrier is about a barrier in which ranks wait for whoever is last.
type barrier struct{ *Cause }

func (c barrier) sentence() string {
	others := ""
	if c.Regions > 1 {
		others = " and at " + wording.Count(c.Regions-1, "other call site", "other call sites")
	}
	return fmt.Sprintf("waiting in %s%s makes this job slow: each time all ranks wait there for whoever is last, %s on average, though another rank is last at other times",
		c.Before.At(), others, wording.Duration(c.EachSeconds))
}

func (c barrier) gain(run float64) string {
	if c.GainSeconds == nil {
		return c.Cause.gain(run)
	}
	it := "it"
	if c.Regions > 1 {
		it = "them"
	}
	return fmt.Sprintf(". If the program does not need %s, the run would take %s less (of %s) without %s.", it, wording.Duration(*c.GainSeconds), wording.Duration(run), it)
}

func (c barrier) short() string { return "waiting for whoever is last in " + c.Before.At() }

func (c barrier) advice(Neighbors) []string {
	return []string{fmt.Sprintf("See whether anything needs %s: messages and collectives are in order without it. Where ranks only hand over a file or memory, a message to those that read it is enough. Without a barrier, a rank that takes longer once does not delay the others if it takes less time later.", c.Before.At())}
}
