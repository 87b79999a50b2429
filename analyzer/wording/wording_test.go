package wording_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/analyzer/wording"
)

func TestDuration(t *testing.T) {
	for s, want := range map[float64]string{
		0: "0 s", 4e-10: "0 s", 1.5e-6: "1.5 µs", 0.0649: "64.9 ms", 2.06: "2.1 s", 123.4: "123 s", 0.0009999: "1 ms", 0.0009994: "999 µs", 0.99996: "1.0 s",
		-1.5e-6: "-1.5 µs", -0.0649: "-64.9 ms", -2.06: "-2.1 s", -123.4: "-123 s",
	} {
		assert.Equal(t, want, wording.Duration(s))
	}
}

func TestCount(t *testing.T) {
	assert.Equal(t, "1 other", wording.Count(1, "other", "others"))
	assert.Equal(t, "0 others", wording.Count(0, "other", "others"))
	assert.Equal(t, "12 others", wording.Count(uint64(12), "other", "others"))
}
