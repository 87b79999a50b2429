package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/cairn-mpi/cairn/trace"
)

// fixed is seconds for a column of a table.
func fixed(s float64) string {
	switch {
	case s == 0:
		return "0"
	case s < 0.001:
		return fmt.Sprintf("%.6f", s)
	case s < 10:
		return fmt.Sprintf("%.4f", s)
	}
	return fmt.Sprintf("%.2f", s)
}

// known is fixed of a time that may not be known.
func known(s *float64) string {
	if s == nil {
		return "not known"
	}
	return fixed(*s)
}

// early says how a rank ended that did not come to MPI_Finalize, or that its tracing stopped.
func early(how string) string {
	if strings.HasPrefix(how, trace.TracingStopped) {
		return how
	}
	return "ended early: " + how
}

func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

func whole(share float64) int { return int(math.Round(100 * share)) }

// rounded has the digits that somebody reads, for the data of the page.
func rounded(x float64) float64 {
	if x == 0 {
		return 0
	}
	scale := math.Pow(10, 4-math.Ceil(math.Log10(math.Abs(x))))
	return math.Round(x*scale) / scale
}
