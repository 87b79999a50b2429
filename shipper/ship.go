package shipper

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/store"
	"github.com/cairn-mpi/cairn/trace"
)

// Options of Ship.
type Options struct {
	Spool    string
	Store    store.Store
	Identity Identity
	// Grace is how long uploads are tried after the context is done: a little
	// less than what is left of the pod's grace period. 0 is DefaultGrace.
	Grace time.Duration
	// Scan, Heartbeat and Checkpoint are the intervals of looking at the spool,
	// of heartbeats, and of uploads of ranks that still run; 0 is the default.
	Scan, Heartbeat, Checkpoint time.Duration
	Logf                        func(format string, args ...any) // nil: none
}

// Defaults of the options.
const (
	DefaultGrace      = 110 * time.Second
	DefaultScan       = time.Second
	DefaultHeartbeat  = 5 * time.Second
	DefaultCheckpoint = 60 * time.Second
)

func (o *Options) complete() {
	for _, d := range []struct {
		value    *time.Duration
		standard time.Duration
	}{{&o.Grace, DefaultGrace}, {&o.Scan, DefaultScan}, {&o.Heartbeat, DefaultHeartbeat}, {&o.Checkpoint, DefaultCheckpoint}} {
		if *d.value == 0 {
			*d.value = d.standard
		}
	}
	if o.Logf == nil {
		o.Logf = func(string, ...any) {}
	}
}

// Ship watches the spool until ctx is done, then uploads what is left. It
// returns the ranks that it had to give up, one line each.
func Ship(ctx context.Context, o Options) []string {
	o.complete()
	s := &ship{
		Options:  o,
		spool:    newSpool(o.Spool),
		tables:   newSymbolTables(o.Spool, false),
		shipped:  map[string]string{},
		uploaded: map[string]string{},
		failed:   map[string]error{},
		partial:  map[string]time.Time{},
		took:     map[string]time.Duration{},
		changed:  make(chan struct{}, 1),
		// a number that no earlier shipper of this pod has reached
		sequence: time.Now().UnixMilli(),
	}
	heartbeats := make(chan struct{})
	beating, stopBeating := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(heartbeats)
		s.beat(beating)
	}()
	s.watch(ctx)
	lost := s.finish(context.WithoutCancel(ctx))
	stopBeating()
	<-heartbeats
	s.lastWord(context.WithoutCancel(ctx), lost)
	return lost
}

// ship is the state of one Ship. Only the fields under mu are shared with the
// heartbeat.
type ship struct {
	Options
	tables   *symbolTables
	uploaded map[string]string    // directory below the pod's -> shard there
	partial  map[string]time.Time // when a world with running ranks was last uploaded
	took     map[string]time.Duration
	backoff  backoff
	changed  chan struct{} // asks for a heartbeat

	mu       sync.Mutex
	spool    *spool
	shipped  map[string]string // launch id -> state that is in the store
	failed   map[string]error  // launch id -> why the last upload failed
	ended    []string          // problems of processes without a trace
	sequence int64
}

// watch ships while ranks come and go.
func (s *ship) watch(ctx context.Context) {
	for {
		if !s.backoff.wait() {
			s.sweep(ctx, false)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(s.Scan):
		}
	}
}

// finish ships all there is, and tries again until the grace is over.
func (s *ship) finish(ctx context.Context) (lost []string) {
	deadline := time.Now().Add(s.Grace)
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	s.Logf("the pod ends: uploading what is left, for at most %s", s.Grace)
	s.backoff = backoff{}
	for {
		if s.sweep(ctx, true) {
			return nil
		}
		pause := s.backoff.next()
		if time.Until(deadline) <= pause {
			break
		}
		time.Sleep(pause)
	}
	return s.lost()
}

// snapshotShare is how many times longer the pause between two uploads of a
// running world is than an upload.
const snapshotShare = 20

// sweep looks at every world and ships those that changed. At the end it ships
// living ranks too, as far as they have got. It tells whether all that is to
// be shipped now is in the store.
func (s *ship) sweep(ctx context.Context, atEnd bool) bool {
	processes, err := s.scan()
	if err != nil {
		s.Logf("the spool cannot be read: %v", err)
		return !atEnd
	}
	all := true
	worlds := byWorld(processes)
	for _, launchID := range sortedLaunches(worlds) {
		members := worlds[launchID]
		running := slices.ContainsFunc(members, func(p process) bool { return p.alive })
		now := state(members, s.tables.resolved())
		s.mu.Lock()
		done := s.shipped[launchID] == now
		s.mu.Unlock()
		if running && !atEnd {
			// ranks that end one by one are worth one upload, not one each
			last, before := s.partial[launchID]
			if !before {
				s.partial[launchID] = time.Now()
				continue
			}
			// a long run takes long to snapshot: that must not become all the sidecar does
			if time.Since(last) < max(s.Checkpoint, snapshotShare*s.took[launchID]) {
				continue
			}
		} else if done {
			continue
		}
		begun := time.Now()
		err := s.upload(ctx, launchID, members)
		s.partial[launchID], s.took[launchID] = time.Now(), time.Since(begun)
		s.mu.Lock()
		if err == nil {
			s.shipped[launchID] = now
			delete(s.failed, launchID)
		} else {
			s.failed[launchID] = err
			all = false
		}
		s.mu.Unlock()
		if err != nil {
			if ctx.Err() != nil && !atEnd {
				return false
			}
			s.Logf("world %s: %v", worldID(launchID), err)
			s.backoff.failed()
			break // the other worlds would fail the same way
		}
		s.backoff = backoff{}
		s.ask()
	}
	return all
}

// scan looks at the spool; a change is worth a heartbeat.
func (s *ship) scan() ([]process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spool.scan()
}

// upload makes the shards of a world and puts them into the store.
func (s *ship) upload(ctx context.Context, launchID string, members []process) error {
	packs, problems := collectWorld(launchID, members, s.Identity, s.tables, nil)
	s.note(problems)
	for i := range packs {
		if err := s.put(ctx, &packs[i]); err != nil {
			return err
		}
	}
	return nil
}

// put uploads one shard, then its manifest, then deletes the shard that it replaces.
func (s *ship) put(ctx context.Context, p *pack) error {
	var encoded bytes.Buffer
	if err := trace.Write(&encoded, p.content); err != nil {
		return fmt.Errorf("the shard cannot be written: %w", err)
	}
	sum := sha256.Sum256(encoded.Bytes())
	directory := shard.Directory(s.Identity.PodUID, p.directory)
	p.manifest.Shard = hex.EncodeToString(sum[:]) + shard.Extension
	if err := s.Store.Put(ctx, directory+p.manifest.Shard, bytes.NewReader(encoded.Bytes()), int64(encoded.Len())); err != nil {
		return err
	}
	if err := shard.Write(ctx, s.Store, directory+shard.ManifestFile, &p.manifest); err != nil {
		return err
	}
	s.Logf("uploaded %d ranks of world %s (%d bytes, final: %v)", len(p.manifest.Ranks), p.manifest.World, encoded.Len(), p.manifest.Final)
	s.forget(ctx, directory, p.manifest.Shard)
	return nil
}

// forget deletes shards that no manifest names any more. A failure costs
// nothing but space.
func (s *ship) forget(ctx context.Context, directory, current string) {
	previous, known := s.uploaded[directory]
	s.uploaded[directory] = current
	switch {
	case !known:
		// an earlier shipper of this pod may have left one
		objects, err := s.Store.List(ctx, directory)
		if err != nil {
			return
		}
		for _, object := range objects {
			if shard.KindOf(object.Key) == shard.KindShard && path.Base(object.Key) != current {
				_ = s.Store.Delete(ctx, object.Key)
			}
		}
	case previous != current:
		_ = s.Store.Delete(ctx, directory+previous)
	}
}

// note keeps problems for the heartbeat, each once.
func (s *ship) note(problems []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range problems {
		if !slices.Contains(s.ended, p) {
			s.ended = append(s.ended, p)
			s.Logf("%s", p)
		}
	}
}

// lost names the ranks of the worlds that are not in the store.
func (s *ship) lost() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	processes, err := s.spool.scan()
	if err != nil {
		return []string{fmt.Sprintf("the spool cannot be read: %v", err)}
	}
	var lost []string
	worlds := byWorld(processes)
	for _, launchID := range sortedLaunches(worlds) {
		members := worlds[launchID]
		if s.shipped[launchID] == state(members, s.tables.resolved()) {
			continue
		}
		var names []string
		for _, p := range members {
			names = append(names, rankName(p))
		}
		why := "the grace period ended"
		if err := s.failed[launchID]; err != nil {
			why = err.Error()
		}
		lost = append(lost, fmt.Sprintf("world %s, %s: %s", worldID(launchID), strings.Join(names, ", "), why))
	}
	return lost
}

// rankName names a process that was not uploaded, by its rank if that can be told.
func rankName(p process) string {
	if r := p.recover(); r.content != nil {
		return fmt.Sprintf("rank %d", r.content.Ranks.At(0).Rank)
	}
	return "process " + p.name
}

func sortedLaunches(worlds map[string][]process) []string {
	launches := make([]string, 0, len(worlds))
	for launchID := range worlds {
		launches = append(launches, launchID)
	}
	slices.Sort(launches)
	return launches
}
