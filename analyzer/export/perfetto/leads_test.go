package perfetto

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace"
)

// Of a clustered trace, calls that have the times of a lead rank say so.
func TestTimesOfLeadsAreMarked(t *testing.T) {
	content, err := os.ReadFile("../../../trace/testdata/clustered.v3.cairn")
	require.NoError(t, err)
	r, err := trace.Open(bytes.NewReader(content), int64(len(content)))
	require.NoError(t, err)
	want, have := map[string]int{}, map[string]int{}
	for _, thread := range r.Threads().All() {
		c, err := r.Cursor(thread.Rank, thread.Thread)
		require.NoError(t, err)
		for c.Next() {
			if e := c.Event(); e.TimesOf != e.Rank {
				want[fmt.Sprintf("rank %d has those of rank %d", e.Rank, e.TimesOf)]++
			}
		}
		require.NoError(t, c.Err())
	}
	require.NotEmpty(t, want)
	f, _ := exported(t, timeline.Of(r), Options{})
	for _, e := range f.events {
		if e.timesOf != "" {
			have[fmt.Sprintf("rank %d has those of %s", e.track-firstTrack, e.timesOf)]++
		}
	}
	assert.Equal(t, want, have)
}
