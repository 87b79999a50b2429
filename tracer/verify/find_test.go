package verify

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/trace"
)

// In PID namespaces of their own, ranks may have one pid and start at nearly the same time.
func TestProcessesWithOnePID(t *testing.T) {
	var processes []*process
	for rank := range 3 {
		processes = append(processes, &process{Hostname: "node", PID: 1, StartRealtimeNS: 5000 + int64(rank),
			Environment: map[string]string{"PMI_RANK": strconv.Itoa(rank)}})
	}
	for rank := range 3 {
		assert.Same(t, processes[rank], find(processes, &trace.Rank{Rank: rank, Host: "node", PID: 1, StartRealtimeNS: 5000}))
	}
	assert.Same(t, processes[0], find(processes, &trace.Rank{Rank: 7, Host: "node", PID: 1, StartRealtimeNS: 5000}), "the launcher may not say")
	assert.Nil(t, find(processes, &trace.Rank{Rank: 1, Host: "node", PID: 2, StartRealtimeNS: 5000}))
}
