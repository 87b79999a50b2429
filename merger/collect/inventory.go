package collect

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/store"
)

// An inventory is the content of the store at one time.
type inventory struct {
	pods      map[string]*shard.Pod // by uid
	manifests []located
	damaged   []string // unreadable documents, described for people
}

// located is a manifest with its location.
type located struct {
	shard.Manifest           // Ranks is empty: see ranks
	ranks          processes // the ranks of the manifest
	directory      string    // with a slash at its end
}

// key is the key of the shard in the store.
func (l *located) key() string { return l.directory + path.Base(l.Shard) }

// A document is a heartbeat or a manifest as it was when it was read.
type document struct {
	version string
	pod     *shard.Pod
	ranks   *located
	damaged string // why it is neither
}

// An inventoryReader takes one inventory after the other, and reads only what has changed
// since the one before.
type inventoryReader struct {
	store store.Store
	read  map[string]document // by key
}

func (t *inventoryReader) take(ctx context.Context) (*inventory, error) {
	objects, err := t.store.List(ctx, shard.Root)
	if err != nil && !store.IsNotFound(err) {
		return nil, err
	}
	inv := &inventory{pods: map[string]*shard.Pod{}}
	now := map[string]document{}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(requests)
	for _, object := range objects {
		kind := shard.KindOf(object.Key)
		if kind != shard.KindPod && kind != shard.KindManifest {
			continue
		}
		if d, ok := t.read[object.Key]; ok && d.version != "" && d.version == object.Version {
			mu.Lock()
			now[object.Key] = d
			mu.Unlock()
			continue
		}
		group.Go(func() error {
			d, err := readDocument(ctx, t.store, object, kind)
			if store.IsNotFound(err) {
				return nil // replaced or deleted since it was listed
			}
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			now[object.Key] = d
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	t.read = now
	for _, d := range now {
		switch {
		case d.pod != nil:
			inv.pods[d.pod.PodUID] = d.pod
		case d.ranks != nil && d.ranks.Empty():
		case d.ranks != nil:
			inv.manifests = append(inv.manifests, *d.ranks)
		default:
			inv.damaged = append(inv.damaged, d.damaged)
		}
	}
	slices.SortFunc(inv.manifests, func(a, b located) int { return strings.Compare(a.directory, b.directory) })
	slices.Sort(inv.damaged)
	return inv, nil
}

// readDocument reads a heartbeat or a manifest. One that was replaced since it was listed is read
// again the next time.
func readDocument(ctx context.Context, s store.Store, object store.Object, kind shard.Kind) (document, error) {
	d := document{version: object.Version}
	directory := path.Dir(object.Key)
	var err error
	if kind == shard.KindPod {
		var pod shard.Pod
		err = shard.Read(ctx, s, object.Key, &pod)
		pod.PodUID = path.Base(directory) // its location counts, not what the document contains
		d.pod = &pod
	} else {
		var manifest shard.Manifest
		err = shard.Read(ctx, s, object.Key, &manifest)
		ranks := locate(manifest, directory+"/")
		d.ranks = &ranks
	}
	if errors.Is(err, shard.ErrDamaged) {
		return document{version: object.Version, damaged: err.Error()}, nil
	}
	return d, err
}

// requests is the number of objects that are read concurrently.
const requests = 16

// worlds groups the manifests by world.
func (inv *inventory) worlds() map[string][]located {
	worlds := map[string][]located{}
	for _, m := range inv.manifests {
		worlds[m.World] = append(worlds[m.World], m)
	}
	return worlds
}

// complete reports whether all ranks of every world are present and have ended.
func (inv *inventory) complete() bool {
	if len(inv.manifests) == 0 {
		return false
	}
	for _, manifests := range inv.worlds() {
		size := 0
		final := rankSet{}
		for i := range manifests {
			size = max(size, manifests[i].Size)
			if !manifests[i].ranks.final {
				return false
			}
			for _, rank := range manifests[i].ranks.numbers.All() {
				final.add(rank)
			}
		}
		if size == 0 || final.len() < size {
			return false
		}
	}
	return true
}

// lost lists the ranks that sidecars could not upload, and those that left nothing to upload.
func (inv *inventory) lost() []string {
	var lost []string
	for _, pod := range inv.pods {
		for _, l := range pod.LostRanks {
			lost = append(lost, pod.Pod+": "+l)
		}
		for _, l := range pod.Unrecorded {
			lost = append(lost, pod.Pod+": "+l)
		}
		if pod.Refused > 0 {
			lost = append(lost, fmt.Sprintf("%s: %d processes were not traced: they found no room in the spool, or could not write to it", pod.Pod, pod.Refused))
		}
	}
	slices.Sort(lost)
	return lost
}

// problems lists the damage that sidecars and this merge found.
func (inv *inventory) problems() []string {
	problems := slices.Clone(inv.damaged)
	for _, pod := range inv.pods {
		for _, p := range pod.Problems {
			problems = append(problems, pod.Pod+": "+p)
		}
	}
	for i := range inv.manifests {
		for _, p := range inv.manifests[i].Problems {
			problems = append(problems, inv.manifests[i].Pod+": "+p)
		}
	}
	slices.Sort(problems)
	return slices.Compact(problems)
}

// duplicates lists the processes that are final in several shards, because of a repeated upload.
// The merge counts each once.
func (inv *inventory) duplicates() []string {
	once, twice := rankSet{}, rankSet{}
	for i := range inv.manifests {
		for _, rank := range inv.manifests[i].ranks.numbers.All() {
			if !once.add(rank) {
				twice.add(rank)
			}
		}
	}
	first := map[process]int{} // the first manifest with it
	again := map[[2]int][]int{}
	for i := range inv.manifests {
		if len(twice) == 0 {
			break
		}
		ranks := &inv.manifests[i].ranks
		for k, rank := range ranks.numbers.All() {
			if !twice.has(rank) {
				continue
			}
			key := ranks.at(k)
			if j, ok := first[key]; ok && j != i {
				again[[2]int{j, i}] = append(again[[2]int{j, i}], int(rank))
			} else {
				first[key] = i
			}
		}
	}
	var found []string
	for pair, ranks := range again {
		found = append(found, fmt.Sprintf("ranks %s are in %s and in %s; they count once", rankList(ranks),
			inv.manifests[pair[0]].key(), inv.manifests[pair[1]].key()))
	}
	slices.Sort(found)
	return found
}

// waitingFor describes what is still missing.
func (inv *inventory) waitingFor(pods int) string {
	var busy []string
	for _, pod := range inv.pods {
		if !pod.Idle() {
			busy = append(busy, fmt.Sprintf("%s (%d running, %d to upload)", pod.Pod, pod.LiveProcesses, pod.Pending))
		}
	}
	slices.Sort(busy)
	if missing := pods - len(inv.pods); missing > 0 {
		busy = append(busy, fmt.Sprintf("%d pods that left no sign", missing))
	}
	return strings.Join(busy, ", ")
}
