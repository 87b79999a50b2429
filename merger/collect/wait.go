package collect

import (
	"context"
	"fmt"
	"time"

	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/store"
)

// This file decides when the merge stops waiting.
//
// The merge begins when the job has ended, but sidecars may still be uploading, and their clocks
// cannot be compared with ours. A pod is idle when it has no running process and nothing to upload.
// Its sidecar then writes a heartbeat, and no further one until something changes. The heartbeat
// has the time within which the sidecar reports a change (shard.Pod.ReportsWithin). Nothing new
// begins in any pod after the launcher has ended: what began before is in a heartbeat within that
// time, on our own clock and from our beginning. So the merge continues as soon as one of these is
// true:
//
//	complete   all pods are present and idle, all ranks of every world are present and have ended,
//	           and nothing suggests that a pod may have more to report
//	idle       all pods are present, and each is final, or idle after we have watched it for
//	           ReportsWithin: what is missing now will not come
//	late       the time to wait is over
//
// A heartbeat without ReportsWithin is from a sidecar of an earlier release, which writes one every
// few seconds, idle or not. There, the next heartbeat but one was begun after our beginning.
//
// When a new heartbeat arrives the pod is watched from the start, since an upload can be followed
// by a late process of the same launch.
//
// While the store was unavailable no pod could report. An earlier heartbeat of an idle pod may hide
// a run that began and ended in the meantime, even if all known worlds are complete. So
// ReportsWithin counts from the time at which the store answers again. If the merge itself had to
// wait for the store, pods are watched from the start, and "complete" is not enough. It is not
// enough either if a pod has not looked at its spool since the launcher's end (clocks of nodes
// differ a little). A launcher that runs on for longer than that after its last mpirun, or a wrong
// clock, costs the ten seconds of ReportsWithin; a clock that is wrong in the other direction hides
// what this check would find.

// poll is the interval at which the store is checked.
const poll = time.Second

// A watch is what the merge has observed of a pod.
type watch struct {
	begun    int64     // sequence when first seen
	sequence int64     // when last observed
	since    time.Time // when that sequence was first observed
}

// settled reports whether everything that will come of an idle pod has come.
func (w *watch) settled(pod *shard.Pod) bool {
	switch {
	case pod.Final:
		return true
	case pod.ReportsWithin > 0:
		return time.Since(w.since) >= pod.ReportsWithin
	}
	return pod.Sequence >= w.begun+2
}

// watches are the watches of all pods.
type watches struct {
	pods  map[string]*watch // by uid
	ended time.Time         // end of the launcher; zero: unknown
	away  bool              // the store was unavailable while we waited
}

// see updates the watches with an inventory; first is the one at our beginning.
func (all *watches) see(inv *inventory, first bool) {
	for uid, pod := range inv.pods {
		w := all.pods[uid]
		if w == nil {
			w = &watch{begun: pod.Sequence, since: time.Now()}
			if !first {
				w.begun-- // the first heartbeat that we see came after our beginning
			}
			all.pods[uid] = w
		}
		if w.sequence != pod.Sequence {
			w.sequence, w.since = pod.Sequence, time.Now()
		}
	}
}

// wasAway restarts all watches: pods report now what they could not report before.
func (all *watches) wasAway() {
	all.away = true
	for _, w := range all.pods {
		w.since = time.Now()
	}
}

// current reports whether a pod has looked at its spool after everything that it could have to
// report.
func (all *watches) current(pod *shard.Pod) bool {
	return pod.Final || !all.away && !pod.LookedAt.Before(all.ended.Add(-clockSlack))
}

// lastEnd returns when the launcher ended for the last time; zero: unknown.
func lastEnd(attempts []Attempt) (last time.Time) {
	for _, a := range attempts {
		if a.FinishedAt.After(last) {
			last = a.FinishedAt
		}
	}
	return last
}

// wait polls the store until nothing more is expected. The message is empty unless the time was up.
func wait(ctx context.Context, s store.Store, o Options) (*inventory, string, error) {
	deadline := time.Now().Add(o.CollectTimeout)
	seen := &watches{pods: map[string]*watch{}, ended: lastEnd(o.Attempts)}
	stock := &inventoryReader{store: s}
	var last error
	var inv *inventory
	for first := true; ; first = false {
		began, before := time.Now(), store.Away(s)
		next, err := stock.take(ctx)
		away := store.Away(s) - before
		if away > 0 || err != nil {
			seen.wasAway()
		}
		// The time to wait begins at the end of the first inventory. It stands still while the
		// store is unavailable, since sidecars cannot upload then either.
		if first {
			away = time.Since(began)
		}
		deadline = deadline.Add(away)
		if err != nil {
			if !store.MayPass(err) || time.Now().After(deadline) {
				return nil, "", err
			}
			last = err
			o.logf("waiting for the store: %v", err)
		} else {
			inv, last = next, nil
			seen.see(inv, first)
			if done(inv, o.Pods, seen) {
				return inv, "", nil
			}
		}
		if time.Now().After(deadline) {
			if last != nil {
				return nil, "", last
			}
			message := fmt.Sprintf("after %s of waiting, not all ranks had arrived", o.CollectTimeout)
			if missing := inv.waitingFor(o.Pods); missing != "" {
				message += ": waited for " + missing
			}
			return inv, message, nil
		}
		select {
		case <-ctx.Done():
			return nil, "", ctx.Err()
		case <-time.After(min(poll, max(time.Until(deadline), 0)+time.Millisecond)):
		}
	}
}

func done(inv *inventory, pods int, seen *watches) bool {
	if len(inv.pods) < pods {
		return false
	}
	settled, current := true, true
	for uid, pod := range inv.pods {
		if !pod.Idle() {
			return false
		}
		settled = settled && seen.pods[uid].settled(pod)
		current = current && seen.current(pod)
	}
	return current && inv.complete() || settled && len(inv.pods) > 0
}
