package report

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestBinary(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0 B", 1023: "1023 B", 1024: "1 KiB", 1536: "1.5 KiB", 67633152: "64.5 MiB", 1<<20 - 1: "1 MiB", 1047552 << 10: "1023 MiB",
		1 << 30: "1 GiB", 1<<64 - 1: "16 EiB",
	} {
		assert.Equal(t, want, binary(n), n)
	}
}
