package collect

import (
	"context"
	"fmt"
	"time"

	"github.com/cairn-mpi/cairn/store"
)

// When the merge stops waiting: the one rule, in this one file.
//
// It begins when the job has ended, but sidecars may still be uploading, and
// their clocks say nothing to ours. A heartbeat with a higher sequence than at
// our beginning was written after it; the one after that was also begun after
// it. So the merge goes on as soon as
//
//	complete   all pods are there and idle, and every world has all its ranks, ended; or
//	idle       all pods are there and final, or idle in a heartbeat begun after the merge began:
//	           what is missing now will not come; or
//	late       the time to wait is over.
//
// A pod that is idle has no running process and nothing to upload. Sidecars
// write a heartbeat at once when this changes, so idle pods with complete
// worlds need no second look.

// poll is how often the store is looked at.
const poll = time.Second

// wait looks at the store until nothing more is to come. The message is empty
// unless the time was up.
func wait(ctx context.Context, s store.Store, o Options) (*inventory, string, error) {
	deadline := time.Now().Add(o.CollectTimeout)
	begun := map[string]int64{} // sequence of each pod when first seen
	var last error
	var inv *inventory
	for first := true; ; first = false {
		next, err := takeInventory(ctx, s)
		if err != nil {
			if !store.MayPass(err) || time.Now().After(deadline) {
				return nil, "", err
			}
			last = err
			o.logf("waiting for the store: %v", err)
		} else {
			inv, last = next, nil
			for uid, pod := range inv.pods {
				if _, ok := begun[uid]; !ok {
					begun[uid] = pod.Sequence
					if !first {
						begun[uid] = pod.Sequence - 1 // its first heartbeat came after our beginning
					}
				}
			}
			if done(inv, o.Pods, begun) {
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

func done(inv *inventory, pods int, begun map[string]int64) bool {
	if len(inv.pods) < pods {
		return false
	}
	idle, lookedAgain := true, true
	for uid, pod := range inv.pods {
		idle = idle && pod.Idle()
		lookedAgain = lookedAgain && (pod.Final || pod.Sequence >= begun[uid]+2)
	}
	if !idle {
		return false
	}
	return inv.complete() || lookedAgain && len(inv.pods) > 0
}
