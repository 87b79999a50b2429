package tracefile

import (
	"context"
	"encoding/json"
	"io"
	"path"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer"
	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/store"
)

// ClockFile is the name of the run's clock map, beside its trace.
const ClockFile = "clock.json"

// clockPath returns the path of the clock map of a trace.
func clockPath(trace string) string { return trace[:strings.LastIndex(trace, "/")+1] + ClockFile }

// ClockBeside returns the clock map that an analysis wrote beside a trace, or a new one, so that
// all commands use the same clocks for a run.
func ClockBeside(ctx context.Context, trace string, s3 storage.Flags, f *File) (*clock.Map, error) {
	m, err := LeftClock(ctx, trace, s3, f)
	if m != nil || err != nil {
		return m, err
	}
	return MakeClock(ctx, trace, f)
}

// LeaveClock writes a clock map beside its trace. If the location is not writable (another user's
// bucket, a mounted image), the next command makes the map again.
func LeaveClock(ctx context.Context, trace string, s3 storage.Flags, m *clock.Map) {
	at := clockPath(trace)
	folder, name := path.Split(at)
	if folder == "" {
		folder = "."
	}
	if s, err := s3.Open(folder); err == nil {
		_ = PutClock(ctx, s, name, m)
	}
}

// LeftClock returns the clock map beside a trace, or nil if there is none of this run.
func LeftClock(ctx context.Context, trace string, s3 storage.Flags, f *File) (*clock.Map, error) {
	o, err := s3.Options()
	if err != nil {
		return nil, err
	}
	object, err := store.OpenFile(ctx, clockPath(trace), o)
	switch {
	case err == nil:
		defer object.Close()
		m := new(clock.Map)
		err := json.NewDecoder(io.NewSectionReader(object, 0, object.Size())).Decode(m)
		if err == nil && m.Fits(timeline.Of(f.Reader)) {
			return m, nil
		}
	case !store.IsNotFound(err):
		return nil, err
	}
	return nil, nil
}

// ClockIn returns the clock map in a store, or nil if there is none of this run.
func ClockIn(ctx context.Context, s store.Store, key string, f *File) (*clock.Map, error) {
	left, err := storage.GetBytes(ctx, s, key)
	if store.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m := new(clock.Map)
	if json.Unmarshal(left, m) != nil || !m.Fits(timeline.Of(f.Reader)) {
		return nil, nil
	}
	return m, nil
}

// MakeClock makes the clock map of a trace.
func MakeClock(ctx context.Context, trace string, f *File) (*clock.Map, error) {
	m, err := analyzer.Clock(ctx, f.Reader)
	if err != nil {
		return nil, Damaged(trace, err)
	}
	return m, nil
}

// PutClock writes a clock map into a store.
func PutClock(ctx context.Context, s store.Store, key string, m *clock.Map) error {
	encoded, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return storage.PutBytes(ctx, s, key, encoded)
}
