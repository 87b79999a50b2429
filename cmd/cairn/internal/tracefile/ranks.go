package tracefile

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/wording"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
)

// maxListedRanks limits the memory that a typing error can request.
const maxListedRanks = 1 << 24

// ParseRanks parses a list such as 0-7,64. It returns nil for an empty list.
func ParseRanks(list string) ([]int, error) {
	if list == "" {
		return nil, nil
	}
	var ranks []int
	for _, part := range strings.Split(list, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		low, err := strconv.Atoi(first)
		high := low
		if err == nil && isRange {
			high, err = strconv.Atoi(last)
		}
		if err != nil || low < 0 || high < low || high-low >= maxListedRanks {
			return nil, fmt.Errorf("ranks %s: %q is neither a rank nor a range such as 0-7", list, part)
		}
		for r := low; r <= high; r++ {
			ranks = append(ranks, r)
		}
	}
	return ranks, nil
}

// ChosenRanks parses a list of ranks and checks that the trace has them. It returns nil for an
// empty list.
func ChosenRanks(f *File, path, list string) ([]int, error) {
	ranks, err := ParseRanks(list)
	if err != nil {
		return nil, cli.UsageError(err)
	}
	for _, rank := range ranks {
		if !HasRank(f, rank) {
			return nil, cli.UsageError(fmt.Errorf("%s has no rank %d", path, rank))
		}
	}
	return ranks, nil
}

// HasRank reports whether a trace contains a rank.
func HasRank(f *File, rank int) bool {
	return f.Ranks().Find(rank) >= 0
}

// ListRanks formats a list of ranks. At most 32 are listed.
func ListRanks(ranks []int) string {
	const few = 32
	text := ""
	for i, r := range ranks {
		if i == few {
			return fmt.Sprintf("%s, … (%d)", text, len(ranks))
		}
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprint(r)
	}
	return text
}

// CheckGroups refuses more groups than a trace has ranks.
func CheckGroups(f *File, path string, k int) error {
	if ranks := f.Ranks().Len(); k > ranks {
		return cli.UsageError(fmt.Errorf("--k %d: %s has %s", k, path, wording.Count(ranks, "rank", "ranks")))
	}
	return nil
}
