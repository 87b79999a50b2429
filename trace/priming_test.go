package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"
)

// The priming is part of the format: with another one, no block of codec 2 can be read.
func TestPrimingNeverChanges(t *testing.T) {
	sum := sha256.Sum256(mixPriming)
	require.Equal(t, "4cb86d78b51e71b4bbada5783cf9cbc314a101a24b52864485935efea1e4008c", hex.EncodeToString(sum[:]))
}
