package storage

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWriteWhole: a file is there when it is whole, and the one before stays until then.
func TestWriteWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	require.NoError(t, os.WriteFile(path, []byte("before"), 0o600))
	require.ErrorIs(t, WriteWhole(path, func(w *os.File) error {
		_, _ = io.WriteString(w, "half of")
		return context.Canceled
	}), context.Canceled)
	kept, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "before", string(kept))
	require.NoError(t, WriteWhole(path, func(w *os.File) error {
		_, err := io.WriteString(w, "after")
		return err
	}))
	kept, err = os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "after", string(kept))
	require.NoFileExists(t, path+".partial")
}
