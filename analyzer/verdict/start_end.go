package verdict

import (
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// startEnd is about ranks that come late to MPI_Init.
type startEnd struct{ *Cause }

func (c startEnd) sentence() string {
	return fmt.Sprintf("%s%s %s this job slow: %s to MPI_Init %s after %s for %s there",
		c.Who(), c.whereabouts(), c.make(), c.pick("it comes", "they come"), wording.Duration(c.EachSeconds),
		c.others("the other, which waits", "the others, and all of them wait"), c.pick("it", "them"))
}

func (c startEnd) short() string { return c.which("comes", "come") + " late to MPI_Init" }

func (c startEnd) advice(Neighbors) []string {
	return []string{fmt.Sprintf("Look at what %s before MPI_Init, and at how %s (image pull, mounts, scheduling).",
		c.Who()+c.pick(" does", " do"), c.pick("its pod starts", "their pods start"))}
}
