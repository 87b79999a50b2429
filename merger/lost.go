package merger

import (
	"fmt"
	"strings"

	"github.com/cairn-mpi/cairn/trace"
)

// lostCalls returns the number of calls that were not recorded, and the reasons: "ranks 0-1: the
// spool limit of 1048576 bytes was reached", several reasons separated by semicolons.
func lostCalls(c *trace.Content) (calls uint64, why string) {
	var words []string
	for _, loss := range c.Ranks.Losses() {
		calls += loss.Calls
		noun := "rank"
		if loss.Ranks.Len() > 1 {
			noun = "ranks"
		}
		words = append(words, fmt.Sprintf("%s %s: %s", noun, loss.Ranks, loss.Why))
	}
	return calls, strings.Join(words, "; ")
}
