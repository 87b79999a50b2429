package shipper

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/store"
)

// A manifest is written on the condition that the one in the store is the one that this sidecar
// knows. A delayed request of an earlier sidecar of the pod, or of another sidecar that was
// replaced by this one, must not replace a newer manifest by an older one: that would name a shard
// that was deleted, or one with fewer calls. Names of shards are used once, so no delayed request
// deletes or replaces what a newer manifest needs.

// errOvertaken is the error when another sidecar of this pod has written a manifest since this one
// read it.
var errOvertaken = errors.New("another sidecar of this pod has changed the stored state")

// putManifest replaces the manifest of a directory by its next generation.
func (s *ship) putManifest(ctx context.Context, l *located, m shard.Manifest) error {
	m.Generation, m.Writer = l.manifest.Generation+1, s.writer
	raw, err := json.Marshal(&m)
	if err != nil {
		return err
	}
	version := ""
	key, size := s.key(l, shard.ManifestFile), int64(len(raw))
	if !s.unconditional {
		version, err = s.Store.PutIf(ctx, key, bytes.NewReader(raw), size, l.version)
		switch store.ReasonOf(err) {
		case store.Changed:
			version, err = s.isOurs(ctx, key, &m)
		case store.Unsupported:
			s.unconditional = true
			s.Logf("two sidecars of one pod would not notice each other, because the storage has no conditional writes: %v", err)
		}
	}
	if s.unconditional {
		err = s.Store.Put(ctx, key, bytes.NewReader(raw), size)
	}
	if err != nil {
		return err
	}
	l.manifest, l.version, l.doubtful = m, version, false
	return nil
}

// isOurs reports whether the manifest in the store is the one to be written, from a write whose
// response was lost. It returns its version.
func (s *ship) isOurs(ctx context.Context, key string, m *shard.Manifest) (version string, err error) {
	object, err := s.Store.Stat(ctx, key)
	if err == nil {
		var there shard.Manifest
		if err = shard.Read(ctx, s.Store, key, &there); err == nil && sameDocument(&there, m) {
			return object.Version, nil
		}
	}
	if err != nil && !store.IsNotFound(err) && !errors.Is(err, shard.ErrDamaged) {
		return "", err
	}
	return "", fmt.Errorf("%w: %s", errOvertaken, s.Store.URL(key))
}

// shardName returns a unique name, made of the content and of the manifest that will name it.
func (s *ship) shardName(l *located, content string) string {
	return fmt.Sprintf("%s-%d-%s%s", content, l.manifest.Generation+1, s.writer, shard.Extension)
}

// has reports whether the store has a shard with this content already, with an equivalent manifest.
func (l *located) has(m *shard.Manifest, content string, bytes int64) bool {
	same := *m
	same.Shard, same.Bytes, same.Generation, same.Writer = l.manifest.Shard, bytes, l.manifest.Generation, l.manifest.Writer
	return !l.doubtful && strings.HasPrefix(l.manifest.Shard, content+"-") && sameDocument(&same, &l.manifest)
}
