package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// In each span the slower CPU is divided by the faster one, whichever that is.
func TestRatiosOf(t *testing.T) {
	seconds := [2][]float64{{1, 1, 3, 1}, {1, 2, 1, 1}}
	require.InDeltaSlice(t, []float64{1, 1, 2, 3}, ratiosOf(seconds, 1), 1e-12)
	require.InDeltaSlice(t, []float64{4.0 / 3, 1.5, 2}, ratiosOf(seconds, 2), 1e-12)
	require.Empty(t, ratiosOf(seconds, 5), "no span is that long")
}
