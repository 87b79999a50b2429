package collect

import (
	"context"
	"fmt"
	"time"

	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/store"
)

// When the merge stops waiting: the one rule, in this one file.
//
// It begins when the job has ended, but sidecars may still be uploading, and
// their clocks say nothing to ours. A pod is idle when it has no running process
// and nothing to upload. Its sidecar then writes a heartbeat and is quiet until
// something changes, and promises in it how soon it tells of a change
// (shard.Pod.TellsWithin). After the launcher has ended nothing new begins in
// any pod: what has begun before is in a heartbeat within that time, counted by
// our own clock from our beginning. So the merge goes on as soon as
//
//	complete   all pods are there and idle, every world has all its ranks, ended, and nothing
//	           suggests that a pod may have more to tell; or
//	idle       all pods are there, and each is final, or idle after we have watched it for
//	           as long as it takes to tell: what is missing now will not come; or
//	late       the time to wait is over.
//
// A heartbeat without a promise is that of a sidecar of an earlier release,
// which writes one every few seconds, idle or not: there the one after the next
// was begun after our beginning.
//
// A change is a new heartbeat: then the pod is watched anew, since an upload can
// be followed by a late process of the same launch.
//
// While the store was away nobody could tell. A heartbeat of before, that says
// idle, hides a run that began and ended meanwhile: also when all worlds that are
// there are complete. So the promise holds from the moment on that the store
// answers again: pods are watched anew when the merge itself had to wait for it,
// and complete is not enough then, nor if a pod has not looked at its spool since
// the launcher's end (clocks of nodes differ a little). A launcher that goes on for
// longer than that after its last mpirun, or a wrong clock, costs the promise's
// ten seconds; a clock that is wrong the other way hides what this would show.

// poll is how often the store is looked at.
const poll = time.Second

// A watch is what the merge has seen of a pod.
type watch struct {
	begun    int64     // sequence when first seen
	sequence int64     // when last seen
	since    time.Time // since when that is the last
}

// settled reports whether what is missing of an idle pod will not come.
func (w *watch) settled(pod *shard.Pod) bool {
	switch {
	case pod.Final:
		return true
	case pod.TellsWithin > 0:
		return time.Since(w.since) >= pod.TellsWithin
	}
	return pod.Sequence >= w.begun+2
}

// watches are those of all pods.
type watches struct {
	pods  map[string]*watch // by uid
	ended time.Time         // the launcher; zero: not known
	away  bool              // the store was, while we waited
}

// see takes in what an inventory says; first is the one at our beginning.
func (all *watches) see(inv *inventory, first bool) {
	for uid, pod := range inv.pods {
		w := all.pods[uid]
		if w == nil {
			w = &watch{begun: pod.Sequence, since: time.Now()}
			if !first {
				w.begun-- // its first heartbeat came after our beginning
			}
			all.pods[uid] = w
		}
		if w.sequence != pod.Sequence {
			w.sequence, w.since = pod.Sequence, time.Now()
		}
	}
}

// wasAway begins all watches anew: what the pods could not tell they tell now.
func (all *watches) wasAway() {
	all.away = true
	for _, w := range all.pods {
		w.since = time.Now()
	}
}

// current reports whether a pod has looked at its spool after all that it can have to tell.
func (all *watches) current(pod *shard.Pod) bool {
	return pod.Final || !all.away && !pod.LookedAt.Before(all.ended.Add(-clockSlack))
}

// lastEnd is when the launcher ended for the last time; zero: not known.
func lastEnd(attempts []Attempt) (last time.Time) {
	for _, a := range attempts {
		if a.FinishedAt.After(last) {
			last = a.FinishedAt
		}
	}
	return last
}

// wait looks at the store until nothing more is to come. The message is empty
// unless the time was up.
func wait(ctx context.Context, s store.Store, o Options) (*inventory, string, error) {
	deadline := time.Now().Add(o.CollectTimeout)
	seen := &watches{pods: map[string]*watch{}, ended: lastEnd(o.Attempts)}
	stock := &stocktaker{store: s}
	var last error
	var inv *inventory
	for first := true; ; first = false {
		began, before := time.Now(), store.Away(s)
		next, err := stock.take(ctx)
		away := store.Away(s) - before
		if away > 0 || err != nil {
			seen.wasAway()
		}
		// The time to wait begins with the end of the first look. While the store is away it does not pass: sidecars cannot
		// send either.
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
