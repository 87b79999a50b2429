// Package shards writes a simulation as the sidecars of a job would.
//
// The input is a simulation and a store. The output is, for every pod (the ranks of one node), a
// shard with its manifest and a last heartbeat, in the layout of package shipper/shard, ready for
// `cairn merge --job`. The ranks of a shard are recorded one by one and merged as cairn ship does.
package shards

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/version"
	"github.com/cairn-mpi/cairn/merger"
	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/store"
	"github.com/cairn-mpi/cairn/trace"
)

// Written describes what was written.
type Written struct {
	Shards int
	Bytes  int64 // of the shards
	Calls  uint64
}

// Upload writes the shards of all pods or, if want is not nil, of those for which want returns
// true.
func Upload(ctx context.Context, s store.Store, sim *simulate.Simulation, want func(pod int) bool) (Written, error) {
	var written Written
	var bytes, calls atomic.Uint64
	perPod := sim.Config().RanksPerNode
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for pod := range (sim.Ranks() + perPod - 1) / perPod {
		if want != nil && !want(pod) {
			continue
		}
		written.Shards++
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			content, err := Pod(sim, pod)
			if err != nil {
				return err
			}
			n, err := upload(ctx, s, content)
			bytes.Add(uint64(n))
			calls.Add(content.Threads.Calls())
			return err
		})
	}
	err := group.Wait()
	written.Bytes, written.Calls = int64(bytes.Load()), calls.Load()
	return written, err
}

// Pod returns the shard of the ranks of one pod.
func Pod(sim *simulate.Simulation, pod int) (*trace.Content, error) {
	perPod := sim.Config().RanksPerNode
	var m merger.Merger
	for rank := pod * perPod; rank < min((pod+1)*perPod, sim.Ranks()); rank++ {
		c, err := sim.Rank(rank)
		if err != nil {
			return nil, err
		}
		if err := m.Add(c); err != nil {
			return nil, err
		}
	}
	merged, err := m.Finish(merger.Options{CreatedBy: version.Version})
	if err != nil {
		return nil, err
	}
	if len(merged) != 1 {
		return nil, errors.New("a rank occurs twice")
	}
	return merged[0], nil
}

// upload writes a shard, its manifest and the pod's heartbeat, in this order.
func upload(ctx context.Context, s store.Store, c *trace.Content) (int, error) {
	var file bytes.Buffer
	if err := trace.Write(&file, c); err != nil {
		return 0, err
	}
	first := c.Ranks.At(0)
	uid := "uid-" + first.Node
	sum := sha256.Sum256(file.Bytes())
	m := shard.Manifest{
		World: c.Meta.World, LaunchID: c.Meta.World, Size: c.Meta.WorldSize, Final: true,
		Shard: hex.EncodeToString(sum[:]) + shard.Extension,
		Pod:   first.Pod, PodUID: uid, Node: first.Node, BootID: first.BootID,
	}
	for _, r := range c.Ranks.All() {
		samples := r.Clock.Samples
		m.Ranks = append(m.Ranks, shard.Rank{
			Rank: r.Rank, Host: r.Host, PID: r.PID, StartRealtimeNS: r.StartRealtimeNS, Final: true,
			End: samples[len(samples)-1].RealtimeNS,
		})
	}
	directory := shard.Directory(uid, m.World)
	if err := s.Put(ctx, directory+m.Shard, bytes.NewReader(file.Bytes()), int64(file.Len())); err != nil {
		return 0, err
	}
	if err := shard.Write(ctx, s, directory+shard.ManifestFile, &m); err != nil {
		return 0, err
	}
	pod := shard.Pod{
		Pod: m.Pod, PodUID: uid, Namespace: "simulated", Node: m.Node, Role: "worker", BootID: m.BootID, Sequence: 1,
		Worlds: []string{m.World}, Final: true,
	}
	if err := shard.Write(ctx, s, shard.PodKey(uid), &pod); err != nil {
		return 0, fmt.Errorf("heartbeat: %w", err)
	}
	return file.Len(), nil
}
