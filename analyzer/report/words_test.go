package report

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/analyzer/criticalpath"
)

func TestBinary(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0 B", 1023: "1023 B", 1024: "1 KiB", 1536: "1.5 KiB", 67633152: "64.5 MiB", 1<<20 - 1: "1 MiB", 1047552 << 10: "1023 MiB",
		1 << 30: "1 GiB", 1<<64 - 1: "16 EiB",
	} {
		assert.Equal(t, want, binary(n), n)
	}
}

func TestWords(t *testing.T) {
	for s, want := range map[float64]string{0: "0 s", 1.5e-6: "1.5 µs", 0.0649: "64.9 ms", 2.06: "2.1 s", 123.4: "123 s"} {
		assert.Equal(t, want, criticalpath.Duration(s))
	}
}
