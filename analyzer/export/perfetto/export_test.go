package perfetto

import (
	"bytes"
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// A reader of the format, written from Perfetto's .proto files apart from packet.go.

type event struct {
	time       uint64
	kind       uint64
	track      uint64
	name       string
	call       string
	timesOf    string
	flows      []uint64
	terminates []uint64
	value      float64
}

type file struct {
	tracks map[uint64]string
	parent map[uint64]uint64
	events []event
}

// fields calls f for every field of a message.
func fields(t *testing.T, b []byte, f func(n protowire.Number, number uint64, inner []byte)) {
	t.Helper()
	for len(b) > 0 {
		n, kind, length := protowire.ConsumeTag(b)
		require.Positive(t, length)
		b = b[length:]
		switch kind {
		case protowire.VarintType:
			v, length := protowire.ConsumeVarint(b)
			require.Positive(t, length)
			f(n, v, nil)
			b = b[length:]
		case protowire.Fixed64Type:
			v, length := protowire.ConsumeFixed64(b)
			require.Positive(t, length)
			f(n, v, nil)
			b = b[length:]
		case protowire.BytesType:
			v, length := protowire.ConsumeBytes(b)
			require.Positive(t, length)
			f(n, 0, v)
			b = b[length:]
		default:
			t.Fatalf("field %d has type %d", n, kind)
		}
	}
}

func read(t *testing.T, b []byte) file {
	f := file{tracks: map[uint64]string{}, parent: map[uint64]uint64{}}
	names, annotations, values := map[uint64]string{}, map[uint64]string{}, map[uint64]string{}
	fields(t, b, func(n protowire.Number, _ uint64, packet []byte) {
		require.EqualValues(t, 1, n)
		var e event
		sequence := uint64(0)
		fields(t, packet, func(n protowire.Number, v uint64, inner []byte) {
			switch n {
			case 8:
				e.time = v
			case 10:
				sequence = v
			case 12:
				fields(t, inner, func(table protowire.Number, _ uint64, entry []byte) {
					var id uint64
					var text string
					fields(t, entry, func(n protowire.Number, v uint64, inner []byte) {
						if n == 1 {
							id = v
						} else {
							text = string(inner)
						}
					})
					switch table {
					case 2:
						names[id] = text
					case 3:
						annotations[id] = text
					case 29:
						values[id] = text
					}
				})
			case 60:
				var uuid, parent uint64
				var name string
				fields(t, inner, func(n protowire.Number, v uint64, inner []byte) {
					switch n {
					case 1:
						uuid = v
					case 2:
						name = string(inner)
					case 5:
						parent = v
					}
				})
				f.tracks[uuid], f.parent[uuid] = name, parent
			}
		})
		require.EqualValues(t, 1, sequence)
		fields(t, packet, func(n protowire.Number, _ uint64, inner []byte) {
			if n != 11 {
				return
			}
			fields(t, inner, func(n protowire.Number, v uint64, inner []byte) {
				switch n {
				case 9:
					e.kind = v
				case 10:
					e.name = names[v]
				case 11:
					e.track = v
				case 47:
					e.flows = append(e.flows, v)
				case 48:
					e.terminates = append(e.terminates, v)
				case 44:
					e.value = math.Float64frombits(v)
				case 4:
					var of, text string
					fields(t, inner, func(n protowire.Number, v uint64, inner []byte) {
						switch n {
						case 1:
							of = annotations[v]
						case 6:
							text = string(inner)
						case 17:
							text = values[v]
						}
					})
					switch of {
					case "call":
						e.call = text
					case "times of":
						e.timesOf = text
					}
				}
			})
			f.events = append(f.events, e)
		})
	})
	return f
}

func written(t *testing.T, b *tracetest.Builder, o Options) (file, Summary) {
	t.Helper()
	return exported(t, timeline.Of(b.Open(t)), o)
}

func exported(t *testing.T, trace timeline.Trace, o Options) (file, Summary) {
	t.Helper()
	var out bytes.Buffer
	summary, err := Write(context.Background(), &out, trace, o)
	require.NoError(t, err)
	require.EqualValues(t, out.Len(), summary.Bytes)
	return read(t, out.Bytes()), summary
}

// Two ranks; rank 1 computes longer and makes rank 0 wait.
func two() *tracetest.Builder {
	b := tracetest.New(2)
	b.Rank(0).Init(1, 2).Recv(3, 9, 1, 8).Send(9, 10, 1).Finalize(12, 13)
	b.Rank(1).Init(1, 2).Send(8, 9, 0).Recv(9, 11, 0, 8).Finalize(12, 13)
	return b
}

func TestEveryCallIsASliceAndEveryMessageAnArrow(t *testing.T) {
	f, summary := written(t, two(), Options{})
	assert.EqualValues(t, 8, summary.Calls)
	assert.EqualValues(t, 2, summary.Messages)

	shown := f.imported(t)
	calls := map[uint64][]string{}
	for _, one := range shown.slices {
		require.NotEmpty(t, f.tracks[one.track], "every slice is on a track that is named")
		if !one.instant {
			calls[one.track] = append(calls[one.track], one.name)
		}
	}
	assert.Equal(t, []string{"MPI_Init", "MPI_Recv", "MPI_Send", "MPI_Finalize"}, calls[firstTrack])
	assert.Equal(t, []string{"MPI_Init", "MPI_Send", "MPI_Recv", "MPI_Finalize"}, calls[firstTrack+1])
	// Rank 0 waits from 2 after the start on for what rank 1 sends at 7, and answers at 8.
	assert.Equal(t, []string{
		"1 MPI_Send 7000000 > 0 MPI_Recv 2000000 received",
		"0 MPI_Send 8000000 > 1 MPI_Recv 8000000",
	}, shown.words(1))
	assert.Contains(t, f.tracks[firstTrack], "rank 0")
	assert.EqualValues(t, ranksTrack, f.parent[firstTrack])
	// the path: rank 1 computes until 8 (7 after the run began), its message ends rank 0's waiting
	var path []event
	for _, e := range f.events {
		if e.track == pathTrack && e.kind == 1 {
			path = append(path, e)
		}
	}
	require.NotEmpty(t, path)
	assert.EqualValues(t, 0, path[0].time)
	assert.Equal(t, summary.Segments, len(path))
}

func TestRangeAndRanks(t *testing.T) {
	f, summary := written(t, two(), Options{From: 2 * time.Millisecond, To: 7500 * time.Microsecond, Ranks: []int{0}})
	assert.EqualValues(t, 1, summary.Calls, "the receive lies between 2 and 8")
	assert.Zero(t, summary.Messages, "an arrow needs both ends")
	for _, e := range f.events {
		assert.Empty(t, e.flows)
		assert.Empty(t, e.terminates)
		if e.kind == 1 && e.track != pathTrack && e.track != phasesTrack {
			assert.Equal(t, "MPI_Recv", e.name)
			assert.EqualValues(t, 2*tracetest.Unit, e.time)
			assert.Contains(t, e.call, "source=1")
		}
	}
	_, err := Write(context.Background(), &bytes.Buffer{}, timeline.Of(two().Open(t)), Options{Ranks: []int{7}})
	assert.ErrorContains(t, err, "none of the ranks")
}
