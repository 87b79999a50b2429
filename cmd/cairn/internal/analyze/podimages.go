package analyze

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/store"
)

// podRequests is how many heartbeats are read at the same time.
const podRequests = 32

// podImages are the images of a job's application containers by pod, from the pods' last heartbeats. A heartbeat that
// is gone or damaged leaves its pod out: a report without an image is better than none.
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
