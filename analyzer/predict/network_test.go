package predict_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// message is a send of rank 0 to rank 1.
type message struct {
	bytes         int
	sent, gone    float64 // MPI_Send
	awaited, here float64 // MPI_Recv
}

// messages is the trace of two ranks that start at 1, with MPI_Init until 2; MPI_Finalize is 1
// after the last of them.
func messages(t *testing.T, all ...message) timeline.Trace {
	t.Helper()
	b := tracetest.New(2)
	sender, receiver := b.Rank(0).Init(1, 2), b.Rank(1).Init(1, 2)
	for _, m := range all {
		sender.Call("MPI_Send", m.sent, m.gone, tracetest.Args{"dest": 1})
		receiver.Recv(m.awaited, m.here, 0, m.bytes)
	}
	last := all[len(all)-1]
	end := max(last.gone, last.here) + 2
	sender.Finalize(last.gone+1, end)
	receiver.Finalize(last.here+1, end)
	return timeline.Of(b.Open(t))
}

func on(latency, perMiB float64, handshakes int64) predict.Scenario {
	return predict.Scenario{Network: &predict.Network{Latency: latency * tracetest.Unit, PerByte: perMiB * tracetest.Unit / (1 << 20), Handshakes: handshakes}}
}

// On a network with a latency of 2 MPI_Init ends at 3. Rank 0 sends at 5 what rank 1 has been
// waiting for since 4. Its request arrives at 7, the answer at 9, and the data at 11: rank 1 enters
// MPI_Finalize at 12 and leaves it at 14, 13 from 1. If the data takes 3 to transfer, everything is
// 3 later. Without a handshake the data arrives at 7, and MPI_Finalize is left at 10.
func TestAHandshakeTakesThreeLatencies(t *testing.T) {
	tr := messages(t, message{1 << 20, 4, 4.5, 3, 5})
	assert.Equal(t, []int64{13 * tracetest.Unit, 16 * tracetest.Unit, 9 * tracetest.Unit}, play(t, tr, on(2, 0, 0), on(2, 3, 0), on(2, 0, 2<<20)))
}

// The same, with the receive at 11: the answer reaches rank 0 at 13, which enters MPI_Finalize at
// 14; the data arrives at 15, and rank 1 enters MPI_Finalize at 16, which ends at 18, 17 from 1.
// Without a handshake the data has arrived before the receive: MPI_Finalize is entered at 12 and
// left at 14.
func TestAHandshakeWaitsForItsReceiver(t *testing.T) {
	tr := messages(t, message{1 << 20, 4, 10.2, 10, 10.5})
	late := play(t, tr, predict.Scenario{}, on(2, 0, 0), on(2, 0, 2<<20))
	assert.Equal(t, []int64{11_500_000, 17 * tracetest.Unit, 13 * tracetest.Unit}, late)
}

// The minimum size of messages with a handshake is measured in the run.
func TestWhoMakesHandshakes(t *testing.T) {
	small := message{8, 3, 3.1, 2.5, 5} // there after 2, so much is a latency
	for name, one := range map[string]struct {
		messages []message
		expected bool
	}{
		"64 KiB, nothing is known":               {[]message{{1 << 16, 4, 4.1, 3, 5}}, true},
		"less, nothing is known":                 {[]message{{1<<16 - 1, 4, 4.1, 3, 5}}, false},
		"a send that waits for a late receiver":  {[]message{{8192, 4, 8.1, 8, 8.2}}, true},
		"a send that does not":                   {[]message{{1 << 20, 4, 4.1, 8, 8.2}}, false},
		"a send that takes two latencies":        {[]message{small, {8192, 7, 11, 6, 13}}, true},
		"a send that takes less than one":        {[]message{small, {1 << 20, 7, 8, 6, 13}}, false},
		"a send that takes some, through a pipe": {[]message{{1 << 20, 7, 8, 6, 13}}, true},
	} {
		size := int64(one.messages[len(one.messages)-1].bytes)
		lengths := play(t, messages(t, one.messages...), on(2, 0, 0), on(2, 0, size), on(2, 0, size+1))
		assert.NotEqual(t, lengths[1], lengths[2], name)
		if one.expected {
			assert.Equal(t, lengths[1], lengths[0], name)
		} else {
			assert.Equal(t, lengths[2], lengths[0], name)
		}
	}
}

// A synchronous send waits for the acknowledgment of its message, however small. The message is
// sent at 5 and received at 7, and the acknowledgment arrives at 9. MPI_Finalize is entered at 8
// and 10, left at 12, 11 from 1.
func TestASynchronousSendIsAnswered(t *testing.T) {
	b := tracetest.New(2)
	b.Rank(0).Init(1, 2).Call("MPI_Ssend", 4, 4.5, tracetest.Args{"dest": 1}).Finalize(5.5, 6.5)
	b.Rank(1).Init(1, 2).Recv(3, 5, 0, 8).Finalize(6, 6.5)
	assert.Equal(t, []int64{11 * tracetest.Unit}, play(t, timeline.Of(b.Open(t)), on(2, 0, 0)))
}
