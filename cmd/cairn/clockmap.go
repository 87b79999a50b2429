package main

import (
	"context"
	"encoding/json"
	"io"
	"path"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer"
	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/store"
)

// clockFile is the run's clock map, beside its trace.
const clockFile = "clock.json"

// clockPath is where the clock map of a trace lies.
func clockPath(trace string) string { return trace[:strings.LastIndex(trace, "/")+1] + clockFile }

// clockBeside is the clock map that an analysis has left beside a trace, or a new one: whoever looks at a run uses the
// same clocks.
func clockBeside(ctx context.Context, trace string, s3 s3Flags, f *traceFile) (*clock.Map, error) {
	m, err := leftClock(ctx, trace, s3, f)
	if m != nil || err != nil {
		return m, err
	}
	return makeClock(ctx, trace, f)
}

// leaveClock leaves a clock map beside its trace. Where nothing may be written (someone else's bucket, a mounted image) the
// next one makes it again.
func leaveClock(ctx context.Context, trace string, s3 s3Flags, m *clock.Map) {
	at := clockPath(trace)
	folder, name := path.Split(at)
	if folder == "" {
		folder = "."
	}
	if s, err := s3.open(folder); err == nil {
		_ = putClock(ctx, s, name, m)
	}
}

// leftClock is the clock map that was left beside a trace, nil if there is none of this run.
func leftClock(ctx context.Context, trace string, s3 s3Flags, f *traceFile) (*clock.Map, error) {
	o, err := s3.options()
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

// runClock is the clock map of a job's run: what another analysis has left, or a new one, which is left for the others.
// Two that make it at the same time make the same.
func runClock(ctx context.Context, s store.Store, key, trace string, f *traceFile) (*clock.Map, error) {
	if left, err := getBytes(ctx, s, key); err == nil {
		var m clock.Map
		if err := json.Unmarshal(left, &m); err == nil && m.Fits(timeline.Of(f.Reader)) {
			return &m, nil
		}
	} else if !store.IsNotFound(err) {
		return nil, err
	}
	m, err := makeClock(ctx, trace, f)
	if err != nil {
		return nil, err
	}
	return m, putClock(ctx, s, key, m)
}

func makeClock(ctx context.Context, trace string, f *traceFile) (*clock.Map, error) {
	m, err := analyzer.Clock(ctx, f.Reader)
	if err != nil {
		return nil, damaged(trace, err)
	}
	return m, nil
}

func putClock(ctx context.Context, s store.Store, key string, m *clock.Map) error {
	encoded, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return putBytes(ctx, s, key, encoded)
}
