package store

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"io"
)

// Check writes, reads and deletes one object, and so tells whether a job could
// use the store.
func Check(ctx context.Context, s Store) error {
	id := make([]byte, 8)
	rand.Read(id)
	// the name is unique, because several checks may run at the same time
	key := ".cairn-check-" + hex.EncodeToString(id)
	content := []byte("written by cairn check-storage, which deletes it at once\n")
	if err := s.Put(ctx, key, bytes.NewReader(content), int64(len(content))); err != nil {
		return err
	}
	read, err := readAll(ctx, s, key)
	if err != nil {
		return err
	}
	if !bytes.Equal(read, content) {
		return &Error{Op: "read", URL: s.URL(key), Reason: Other, Message: "the store gave back other bytes than were written"}
	}
	return s.Delete(ctx, key)
}

func readAll(ctx context.Context, s Store, key string) ([]byte, error) {
	r, err := s.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}
