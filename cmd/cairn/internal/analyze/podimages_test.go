package analyze

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/store"
)

// TestImagesOfPods: each pod's image by name; what cannot be read is left out.
func TestImagesOfPods(t *testing.T) {
	s, err := store.Open(t.TempDir(), store.S3Options{})
	require.NoError(t, err)
	images, err := podImages(t.Context(), s)
	require.NoError(t, err)
	assert.Empty(t, images)

	require.NoError(t, shard.Write(t.Context(), s, shard.PodKey("1"), &shard.Pod{Pod: "a-launcher", Image: "registry/app:1"}))
	require.NoError(t, shard.Write(t.Context(), s, shard.PodKey("2"), &shard.Pod{Pod: "a-worker-0", Image: "registry/app:2"}))
	require.NoError(t, shard.Write(t.Context(), s, shard.PodKey("3"), &shard.Pod{Pod: "of an older version"}))
	require.NoError(t, storage.PutBytes(t.Context(), s, shard.PodKey("4"), []byte("{")))
	images, err = podImages(t.Context(), s)
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"a-launcher": "registry/app:1", "a-worker-0": "registry/app:2"}, images)
}
