package shipper

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/store"
	"github.com/cairn-mpi/cairn/trace"
)

// This file decides which directory of the store a pod's ranks of a world go to.
//
// A shard is made of the processes in the spool. It replaces the one before as long as it contains
// everything that was in that one. Once a shard is in the store for good, its processes leave the
// spool. Then it is never changed again, and later processes of the same launch go to a directory
// with another number. The merge accepts several shards of a pod, and uses the later version of a
// process that is in two of them.

// A world is what the shipper knows of a launch.
type world struct {
	launchID string
	// directories that the next upload may replace; of a process in several of them,
	// the last one counts
	open     []*located
	closed   map[identity]bool
	next     time.Time // time of the next upload while ranks run; zero: not seen before
	unusable map[string]bool
	reads    int // successive reads that were incomplete

	// the fields below are protected by the ship's mu
	shipped string           // state that is in the store
	failed  error            // why the last upload failed
	ranks   map[identity]int // rank of each process that was uploaded
}

func newWorld(launchID string) *world {
	return &world{launchID: launchID, closed: map[identity]bool{}, ranks: map[identity]int{}}
}

// located is a directory of the store with its contents.
type located struct {
	name     string // below the pod's directory
	manifest shard.Manifest
	version  string // of the manifest in the store; "": there is none
	doubtful bool   // the store may lack what the manifest names
	done     string // state of the processes in it, if all have ended
}

// identities returns the processes in a directory.
func (l *located) identities() []identity { return identitiesOf(&l.manifest) }

func identitiesOf(m *shard.Manifest) []identity {
	list := make([]identity, len(m.Ranks))
	for i, r := range m.Ranks {
		list[i] = identity{r.Host, r.PID, r.StartRealtimeNS}
	}
	return list
}

func setOf(list []identity) map[identity]bool {
	set := map[identity]bool{}
	for _, id := range list {
		set[id] = true
	}
	return set
}

func (s *ship) world(launchID string) *world {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.worlds[launchID]
	if w == nil {
		w = newWorld(launchID)
		s.worlds[launchID] = w
	}
	return w
}

// newDirectory returns a directory that was never used.
func (s *ship) newDirectory(w *world) *located {
	world := worldID(w.launchID)
	name := world
	for n := 1; s.taken[name]; n++ {
		name = world + "-" + strconv.Itoa(n)
	}
	s.taken[name] = true
	return &located{name: name}
}

// numberOf returns the number of a directory of a world, or -1 for one of another world.
func numberOf(world, directory string) int {
	if directory == world {
		return 0
	}
	rest, ok := strings.CutPrefix(directory, world+"-")
	n, err := strconv.Atoi(rest)
	if !ok || err != nil || n < 1 {
		return -1
	}
	return n
}

func (s *ship) key(l *located, name string) string {
	return shard.Directory(s.Identity.PodUID, l.name) + name
}

// Timeout per object: a dead connection would otherwise block the sidecar for a quarter of an hour.
const (
	putTimeout = 2 * time.Minute
	leastRate  = 1 << 20 // bytes per second
)

// put uploads parts, then a shard, then its manifest, and then deletes the shard that it replaces.
func (s *ship) put(ctx context.Context, l *located, p *pack) error {
	if err := s.putParts(ctx, p); err != nil {
		return err
	}
	chain, parts, err := s.chain(ctx, p)
	if err != nil {
		return err
	}
	p.manifest.Parts = parts
	tail := func(w io.Writer) error {
		if err := trace.WriteTail(w, p.content, chain); err != nil {
			return fmt.Errorf("%w: %w", errUnusable, err)
		}
		return nil
	}
	content, err := digestOf(tail)
	if err != nil {
		return err
	}
	if l.has(&p.manifest, content.sum, content.bytes) {
		return nil
	}
	p.manifest.Shard, p.manifest.Bytes = s.shardName(l, content.sum), content.bytes
	ctx, cancel := context.WithTimeout(ctx, putTimeout+time.Duration(content.bytes/leastRate)*time.Second)
	defer cancel()
	key := s.key(l, p.manifest.Shard)
	if content.held != nil {
		err = s.Store.Put(ctx, key, bytes.NewReader(content.held), content.bytes)
	} else {
		err = s.putStream(ctx, key, content.bytes, tail)
	}
	if err != nil {
		return err
	}
	before := l.manifest.Shard
	if err := s.putManifest(ctx, l, p.manifest); err != nil {
		return err
	}
	if len(p.moved) > 0 && !p.manifest.Final { // otherwise all of it leaves the spool soon
		if err := s.verify(ctx, l); err != nil {
			return err
		}
		s.freeParts(p)
	}
	s.Logf("uploaded %d ranks of world %s (%d bytes, final: %v)", len(p.manifest.Ranks), p.manifest.World, content.bytes, p.manifest.Final)
	if before != "" && before != p.manifest.Shard {
		_ = s.Store.Delete(ctx, s.key(l, before)) // a leftover costs only space
	}
	return nil
}

// settle closes the directories of a world whose processes have all ended, once these are complete
// and the store is verified to have them. Then the processes may leave the spool.
func (s *ship) settle(ctx context.Context, w *world, members []process) error {
	w.open = slices.DeleteFunc(w.open, func(l *located) bool { return l.manifest.Empty() })
	sizes, err := s.partSizes(ctx, w.open)
	for _, l := range w.open {
		if err == nil {
			err = s.verify(ctx, l)
		}
		if err == nil {
			err = s.verifyParts(l, sizes)
		}
		if err != nil {
			l.doubtful = true
			s.mu.Lock()
			w.shipped, w.failed = "", err // upload it again
			s.mu.Unlock()
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range w.open {
		for _, id := range l.identities() {
			w.closed[id] = true
		}
	}
	for _, p := range members {
		switch {
		case w.closed[p.identity]:
			s.inStore[p.name] = true
		case w.unusable[p.name]:
			s.keep(p)
		default:
			s.inStore[p.name] = true // it has left no calls
		}
	}
	w.open = nil
	return nil
}

// errNotStored is the error when the store lacks what was uploaded.
var errNotStored = errors.New("the store does not have what was uploaded")

// verify checks the size of a shard in the store, and its manifest.
func (s *ship) verify(ctx context.Context, l *located) error {
	ctx, cancel := context.WithTimeout(ctx, putTimeout)
	defer cancel()
	if err := s.checkSize(ctx, s.key(l, l.manifest.Shard), l.manifest.Bytes); err != nil {
		return err
	}
	var manifest shard.Manifest
	if err := shard.Read(ctx, s.Store, s.key(l, shard.ManifestFile), &manifest); err != nil {
		return err
	}
	if !sameDocument(&manifest, &l.manifest) {
		return fmt.Errorf("%s: %w: another manifest", s.Store.URL(s.key(l, shard.ManifestFile)), errNotStored)
	}
	return nil
}

// partSizes lists the sizes of the objects with parts in one request, if any shard needs some: a
// job of several days has hundreds.
func (s *ship) partSizes(ctx context.Context, directories []*located) (map[string]int64, error) {
	if !slices.ContainsFunc(directories, func(l *located) bool { return len(l.manifest.Parts) > 0 }) {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, putTimeout)
	defer cancel()
	objects, err := s.Store.List(ctx, shard.Parts(s.Identity.PodUID))
	if err != nil && !store.IsNotFound(err) {
		return nil, err
	}
	sizes := map[string]int64{}
	for _, object := range objects {
		sizes[object.Key] = object.Size
	}
	return sizes, nil
}

// verifyParts returns an error if the store lacks objects that a shard needs.
func (s *ship) verifyParts(l *located, sizes map[string]int64) error {
	for _, part := range l.manifest.Parts {
		key := shard.PartKey(s.Identity.PodUID, part.Name)
		if size, there := sizes[key]; !there || size != part.Bytes {
			delete(s.objects, part.Name) // the next upload asks the store again
			return fmt.Errorf("%s: %w: %d bytes, not %d", s.Store.URL(key), errNotStored, size, part.Bytes)
		}
	}
	return nil
}

// checkSize checks that an object exists and has the given size.
func (s *ship) checkSize(ctx context.Context, key string, bytes int64) error {
	object, err := s.Store.Stat(ctx, key)
	if err == nil && object.Size != bytes {
		err = fmt.Errorf("%s: %w: %d bytes, not %d", s.Store.URL(key), errNotStored, object.Size, bytes)
	}
	return err
}

// sameDocument reports whether two manifests are equal as JSON.
func sameDocument(a, b *shard.Manifest) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// restore reads what earlier shippers of this pod have left in the store: directories with
// processes that are no longer in the spool, and problems of such processes.
func (s *ship) restore(ctx context.Context, processes []process) error {
	if s.restored {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, putTimeout)
	defer cancel()
	objects, err := s.Store.List(ctx, shard.Directory(s.Identity.PodUID, ""))
	if err != nil && !store.IsNotFound(err) {
		return err
	}
	sizes := map[string]int64{}
	for _, object := range objects {
		sizes[object.Key] = object.Size
	}
	found := map[string][]*located{} // by launch
	for _, object := range objects {
		switch shard.KindOf(object.Key) {
		case shard.KindPod:
			err = s.restorePod(ctx, object.Key)
		case shard.KindManifest:
			// A concurrent replacement has a later version: then the condition of the next put
			// fails.
			l := &located{name: path.Base(path.Dir(object.Key)), version: object.Version}
			err = shard.Read(ctx, s.Store, object.Key, &l.manifest)
			if err == nil && !l.manifest.Empty() {
				found[l.manifest.LaunchID] = append(found[l.manifest.LaunchID], l)
			}
		}
		if err != nil && !errors.Is(err, shard.ErrDamaged) && !store.IsNotFound(err) {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, object := range objects {
		// The first to put a manifest takes a directory without one; a delayed write of a dead
		// sidecar must find it taken.
		switch shard.KindOf(object.Key) {
		case shard.KindPart:
			s.objects[shard.PartOf(object.Key)] = object.Size
		case shard.KindManifest:
			s.taken[path.Base(path.Dir(object.Key))] = true
		}
	}
	present := map[identity]string{}
	for _, p := range processes {
		present[p.identity] = p.name
	}
	for launchID, directories := range found {
		w := newWorld(launchID)
		w.restore(directories, present, func(l *located) bool {
			size, there := sizes[s.key(l, l.manifest.Shard)]
			return there && size == l.manifest.Bytes
		})
		for id := range w.closed {
			if name, there := present[id]; there {
				s.inStore[name] = true
			}
		}
		s.worlds[launchID] = w
	}
	s.restored = true
	s.requestHeartbeat()
	return nil
}

// forgetStore discards what is known of the store, because another sidecar has written to it.
func (s *ship) forgetStore() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.restored = false
	clear(s.worlds)
}

// restore determines the directories that may be replaced: those whose processes are all in the
// spool or in a directory that stays. Final shards come first.
func (w *world) restore(directories []*located, present map[identity]string, whole func(*located) bool) {
	slices.SortFunc(directories, func(a, b *located) int {
		return numberOf(worldID(w.launchID), a.name) - numberOf(worldID(w.launchID), b.name)
	})
	slices.SortStableFunc(directories, func(a, b *located) int {
		switch {
		case a.manifest.Final == b.manifest.Final:
			return 0
		case a.manifest.Final:
			return -1
		}
		return 1
	})
	for _, l := range directories {
		l.doubtful = !whole(l)
		stays := slices.ContainsFunc(l.identities(), func(id identity) bool { return present[id] == "" && !w.closed[id] })
		if !stays {
			w.open = append(w.open, l)
			continue
		}
		for i, id := range l.identities() {
			if l.manifest.Ranks[i].Final && !l.doubtful {
				w.closed[id] = true
			}
		}
	}
}

// restorePod takes over the permanent parts of an earlier shipper's heartbeat.
func (s *ship) restorePod(ctx context.Context, key string) error {
	var pod shard.Pod
	if err := shard.Read(ctx, s.Store, key, &pod); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sequence = max(s.sequence, pod.Sequence)
	for _, line := range pod.Unrecorded {
		s.unrecorded.add(line, line)
	}
	for _, problem := range pod.Problems {
		if !strings.HasPrefix(problem, spoolProblem) && !slices.Contains(s.ended, problem) {
			s.ended = append(s.ended, problem)
		}
	}
	return nil
}
