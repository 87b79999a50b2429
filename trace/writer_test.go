package trace

import (
	"bytes"
	"io"
	"testing"

	"github.com/cairn-mpi/cairn/trace/internal/limits"
	"github.com/stretchr/testify/require"
)

func BenchmarkWrite(b *testing.B) {
	c := stencil(64, 1000, false)
	defer limits.ReportCPU(b)()
	for range b.N {
		if err := Write(io.Discard, c); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	file := written(b, stencil(64, 1000, false))
	b.ReportAllocs()
	defer limits.ReportCPU(b)()
	for range b.N {
		if _, err := Open(bytes.NewReader(file), int64(len(file))); err != nil {
			b.Fatal(err)
		}
	}
}

// Earlier compressions do not affect the next block.
func TestCompressionIsDeterministic(t *testing.T) {
	c := stencil(9, 300, true)
	want := written(t, c)
	for _, other := range []*Content{stencil(2, 10, false), stencil(64, 100, true), {}} {
		written(t, other)
		require.Equal(t, want, written(t, c))
	}
}

// Nothing is written of a content that is not valid, and the error says what is wrong.
func TestWriteRefusesInvalidContents(t *testing.T) {
	c := stencil(2, 3, true)
	c.Signatures[0].Function = 9999
	want := c.Validate()
	require.Error(t, want)
	var b bytes.Buffer
	require.EqualError(t, Write(&b, c), want.Error())
	require.Zero(t, b.Len())
}
