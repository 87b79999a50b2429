package shipper

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
)

// While the store is unavailable, or slower than the ranks, the spool fills. Before it is full and
// tracing stops, the oldest times of all processes are replaced: first by sums over 1,024 calls,
// and when all of those are, by sums over 65,536 calls (spool.Directory.Coarsen). So exact times
// remain for a period that all ranks share and that ends now, when a job that hangs or dies does
// so. New calls are always coded with all their times, and keep them if the store takes them in
// time.
//
// This begins when a quarter of the limit is left, or, for a small limit, when only what tracing
// needs is left: the record buffers and logs of a process between two checkpoints may be as large
// as what is left for all processes (budget.Take).
const tracingReserve = 8 << 20

// littleLeft returns the remaining space at which giving up times begins. It ends when there is
// half as much again.
func littleLeft(limit int64) int64 { return max(limit/4, min(limit/2, limit/16+tracingReserve)) }

// A givenUp is a part whose times may be given up.
type givenUp struct {
	process process
	spool.LocalPart
}

// giveUpTimes makes room in the spool if there is little.
func (s *ship) giveUpTimes(ctx context.Context) {
	left, limit, err := s.auditor.account.Left()
	if err != nil || left >= littleLeft(limit) {
		return
	}
	if s.audit(true); ctx.Err() != nil { // what has been removed in the meantime may be enough
		return
	}
	if left, limit, err = s.auditor.account.Left(); err != nil || left >= littleLeft(limit) {
		return
	}
	processes, err := s.scan()
	if err != nil {
		return // sweep reports the error
	}
	want := littleLeft(limit)*3/2 - left
	for _, per := range []uint64{timing.ShortSums, timing.LongSums} {
		done := s.packer.giveUp(ctx, s.unshipped(processes), per, want, s.Logf)
		if done.Calls == 0 {
			continue
		}
		freed := done.Before - done.After
		s.auditor.removed(freed)
		want -= freed
		s.Logf("the spool is close to its limit: for %d calls that are not in the storage yet, only sums of times over %d calls each are kept (frees %d bytes)", done.Calls, per, freed)
		if want <= 0 {
			return
		}
	}
}

// giveUp replaces the oldest times that are finer than sums over per calls, until the spool is
// smaller by want bytes.
func (k *packer) giveUp(ctx context.Context, processes []process, per uint64, want int64, logf func(format string, args ...any)) (done spool.Packed) {
	var parts []givenUp
	for _, p := range processes {
		local, err := k.localParts(p)
		if err != nil {
			logf("%v", err)
		}
		for _, part := range local {
			if part.Per < per {
				parts = append(parts, givenUp{p, part})
			}
		}
	}
	slices.SortStableFunc(parts, func(a, b givenUp) int { return cmp.Compare(a.Number, b.Number) })
	chosen := map[string][]int{}
	for _, part := range parts {
		if want <= 0 {
			break
		}
		chosen[part.process.name] = append(chosen[part.process.name], part.Number)
		want -= part.Bytes
	}
	for _, p := range processes {
		if ctx.Err() != nil || len(chosen[p.name]) == 0 {
			continue
		}
		more, err := k.try(p, "reduced to sums", func(d *spool.Directory) (spool.Packed, error) { return d.Coarsen(per, chosen[p.name]) })
		if err != nil {
			logf("%v", err)
		}
		done.Calls, done.Before, done.After = done.Calls+more.Calls, done.Before+more.Before, done.After+more.After
	}
	return done
}

// localParts lists the parts of a process that are only in the spool.
func (k *packer) localParts(p process) (parts []spool.LocalPart, err error) {
	_, err = k.try(p, "found", func(d *spool.Directory) (done spool.Packed, err error) {
		parts, err = d.LocalParts()
		return done, err
	})
	return parts, err
}

// try calls do for a process, unless it failed recently.
func (k *packer) try(p process, what string, do func(*spool.Directory) (spool.Packed, error)) (done spool.Packed, err error) {
	if time.Since(k.failed[p.name]) < packRetry {
		return done, nil
	}
	defer func() {
		if failed := recover(); failed != nil {
			err = fmt.Errorf("the recorder failed on it: %v", failed)
		}
		if err != nil {
			if k.failed == nil {
				k.failed = map[string]time.Time{}
			}
			k.failed[p.name] = time.Now()
			err = fmt.Errorf("the times of process %s cannot be %s, and stay as they are: %w", p.name, what, cause(err))
		}
	}()
	d, err := p.open()
	if err != nil {
		return done, err
	}
	defer d.Close()
	return do(d)
}
