package logical

import (
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

// Physical returns what a rank did, in the format of Expand, without any topology.
func Physical(t timeline.Trace, rank int) []string {
	cursor, err := t.Calls(rank, 0)
	if err != nil {
		return nil
	}
	var list []string
	var nowhere Program
	for cursor.Next() {
		text, peers := nowhere.text(t, cursor.Event(), func(int, string) {})
		words := make([]any, len(peers))
		for i, peer := range peers {
			words[i] = peer
		}
		list = append(list, fmt.Sprintf(text, words...))
	}
	return list
}
