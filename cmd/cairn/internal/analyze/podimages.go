package analyze

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/store"
)

// podRequests is the number of heartbeats that are read concurrently.
const podRequests = 32

// podImages returns the image of a job's application container by pod name, from the last
// heartbeats of the pods. Pods with a missing or damaged heartbeat are left out: a report without
// an image is better than none.
func podImages(ctx context.Context, s store.Store) (map[string]string, error) {
	objects, err := s.List(ctx, shard.Root)
	if err != nil && !store.IsNotFound(err) {
		return nil, err
	}
	images := map[string]string{}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(podRequests)
	for _, object := range objects {
		if shard.KindOf(object.Key) != shard.KindPod {
			continue
		}
		group.Go(func() error {
			var pod shard.Pod
			err := shard.Read(ctx, s, object.Key, &pod)
			switch {
			case errors.Is(err, shard.ErrDamaged), store.IsNotFound(err):
				return nil
			case err != nil:
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if pod.Image != "" {
				images[pod.Pod] = pod.Image
			}
			return nil
		})
	}
	return images, group.Wait()
}
