package verdict

import (
	"fmt"

	"github.com/dustin/go-humanize"
)

// files is about files, by calls of MPI or of the program itself.
type files struct{ calls }

func (c files) isOfComputation() bool { return c.Form == Blocked }

func (c files) sentence() string {
	if c.Form == Blocked {
		return fmt.Sprintf("files make this job slow: %s, with %s read or written meanwhile", c.blockedAlike(), humanize.IBytes(uint64(c.Bytes)))
	}
	return c.costly("files", "messages")
}

func (c files) short() string {
	if c.Form == Blocked {
		return "files " + c.between()
	}
	return c.mostOfAll("files")
}

func (c files) advice(Neighbors) []string {
	const check = "check the file system (a local or parallel one instead of NFS)."
	if c.Form == Blocked {
		return []string{"Read and write less, less often, or from a thread of its own, and " + check}
	}
	return []string{"Write less often or less, use collective file calls with large contiguous pieces, and " + check}
}
