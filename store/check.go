package store

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Check does everything once that a job does with the store: it writes, reads, lists and deletes an
// object, and asks for a missing one.
func Check(ctx context.Context, s Store) error {
	id := make([]byte, 8)
	rand.Read(id)
	// the name is unique, because several checks may run at the same time
	key := ".cairn-check-" + hex.EncodeToString(id)
	content := []byte("written by cairn check-storage, which deletes it at once\n")
	if err := s.Put(ctx, key, bytes.NewReader(content), int64(len(content))); err != nil {
		return err
	}
	err := checkWritten(ctx, s, key, content)
	// delete the object even if the key may not do the rest
	if deleted := s.Delete(ctx, key); err == nil {
		err = deleted
	}
	return err
}

func checkWritten(ctx context.Context, s Store, key string, content []byte) error {
	read, err := readAll(ctx, s, key)
	if err != nil {
		return err
	}
	if !bytes.Equal(read, content) {
		return &Error{Op: "read", URL: s.URL(key), Reason: Other, Message: "the store gave back other bytes than were written"}
	}
	listed, err := s.List(ctx, key)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(listed, func(o Object) bool { return o.Key == key }) {
		return &Error{Op: "list", URL: s.URL(""), Reason: Other, Message: "the store does not list what was just written"}
	}
	return checkMissing(ctx, s, key+"-missing")
}

// checkMissing asks for a missing object. S3 answers 403 to a key that may not list, so that a
// missing object cannot be distinguished from a refused one.
func checkMissing(ctx context.Context, s Store, key string) error {
	body, err := s.Get(ctx, key)
	var refused *Error
	switch {
	case err == nil:
		body.Close()
		return &Error{Op: "read", URL: s.URL(key), Reason: Other, Message: "the store gives an object that was never written"}
	case IsNotFound(err):
		return nil
	case errors.As(err, &refused) && refused.Reason == AccessDenied:
		return &Error{Op: "read", URL: s.URL(key), Reason: AccessDenied, Err: err,
			Message: fmt.Sprintf("the store refuses to say that an object is missing: allow this key to list below %s", s.URL(""))}
	}
	return err
}

func readAll(ctx context.Context, s Store, key string) ([]byte, error) {
	r, err := s.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}
