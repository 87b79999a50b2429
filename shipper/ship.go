package shipper

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cairn-mpi/cairn/store"
	"github.com/cairn-mpi/cairn/tracer/compressor"
)

// Options of Ship.
type Options struct {
	Spool    string
	Store    store.Store
	Identity Identity
	// Grace is the time that a pod has to end, from when the context is done. Ship returns earlier.
	// 0 is DefaultGrace.
	Grace time.Duration
	// SpoolLimit is the limit in bytes for all processes of the pod in the spool together; 0: each
	// has a limit of its own.
	SpoolLimit int64
	// Compress has what living processes record compressed (package compressor).
	Compress bool
	// Resolver is the command that makes tables of symbols (package resolver); nil: there are no
	// names of call sites.
	Resolver []string
	// Scan, Heartbeat and Checkpoint are the intervals between scans of the spool, heartbeats, and
	// uploads of running ranks; 0 is the default.
	Scan, Heartbeat, Checkpoint time.Duration
	Logf                        func(format string, args ...any) // may be nil
	// Report is called with what is not in the store: once when the context is done, in case no
	// later call is possible, and once at the end. It may be nil.
	Report func(Outcome)

	maxPack int64 // tests use other values; 0 is the default
}

// An Outcome is the result for a pod's ranks.
type Outcome struct {
	Lost    []string // ranks that are not in the store, one line per world
	Storage error    // error of the last upload; nil: it succeeded
}

// Defaults of the options.
const (
	DefaultGrace      = 120 * time.Second
	DefaultScan       = time.Second
	DefaultHeartbeat  = time.Minute
	DefaultCheckpoint = 30 * time.Second // a pod that is lost without warning loses at most this
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
	if o.maxPack == 0 {
		o.maxPack = maxPack
	}
	if o.Logf == nil {
		o.Logf = func(string, ...any) {}
	}
	if o.Report == nil {
		o.Report = func(Outcome) {}
	}
}

// reserve is the last part of the grace period, in which nothing is uploaded: it is for the last
// heartbeat and for the end of the process.
func (o *Options) reserve() time.Duration { return min(6*time.Second, o.Grace/4) }

// Ship ships the spool until ctx is done, and then uploads what is left. It returns the ranks that
// it could not upload, one line each. It returns before the grace period ends, even if the store or
// a disk hangs.
func Ship(ctx context.Context, o Options) []string {
	o.complete()
	s := newShip(o)
	done := make(chan []string, 1)
	go func() { done <- s.run(ctx) }()
	select {
	case lost := <-done:
		return lost
	case <-ctx.Done():
	}
	select {
	case lost := <-done:
		return lost
	case <-time.After(o.Grace - o.reserve()/3):
		o.Logf("the grace period ends before the storage has answered")
		return s.report()
	}
}

// GCPercent is the value of debug.SetGCPercent for a process that ships: with the default, the
// garbage of one pack would take more than all other memory of the sidecar.
const GCPercent = 50

func newShip(o Options) *ship {
	s := &ship{
		Options: o,
		spool:   newScanner(o.Spool),
		tables:  newSymbolTables(o.Spool, false),
		worlds:  map[string]*world{},
		inStore: map[string]bool{},
		kept:    map[string]bool{},
		refused: map[string]time.Time{},
		taken:   map[string]bool{},
		objects: map[string]int64{},

		writer:     fmt.Sprintf("%016x", rand.Uint64()),
		unrecorded: unrecorded{},
		changed:    make(chan struct{}, 1),
		// greater than the sequence of any earlier shipper of this pod
		sequence: time.Now().UnixMilli(),
	}
	s.spool.remote, s.spool.apart = s.remote, true
	return s
}

// ship is the state of one Ship. Only the fields below mu are shared with the heartbeat and the
// end.
type ship struct {
	Options
	tables  *symbolTables
	backoff backoff
	changed chan struct{}        // requests a heartbeat
	refused map[string]time.Time // time of failure of directories that cannot be removed
	audited time.Time
	auditor auditor
	packer  packer
	objects map[string]int64 // sizes of objects with parts
	names   names
	writer  string // random number that identifies this sidecar
	// unconditional: the store does not support conditional writes.
	unconditional bool

	mu         sync.Mutex
	spool      *scanner
	restored   bool              // the objects of earlier shippers of the pod are known
	worlds     map[string]*world // by launch id
	inStore    map[string]bool   // directories that are in the store for good
	kept       map[string]bool   // unusable directories
	ended      []string          // problems of processes without a trace
	more       int               // further problems that are only counted
	unrecorded unrecorded        // processes without recorded calls
	looked     int               // number of problems of ended in the latest look
	reported   int               // number of those in, or counted by, the latest heartbeat
	taken      map[string]bool   // directories that have, or will have, a manifest in the store
	storage    error             // error of the last upload
	sequence   int64

	reporting sync.Mutex // held while reporting, so that reports are in order
}

func (s *ship) run(ctx context.Context) []string {
	release, locked := s.lockSpool(ctx)
	defer release()
	if !locked {
		return s.report()
	}
	if s.Compress {
		if c, err := compressor.Start(s.Options.Spool, s.Logf); err != nil {
			s.Logf("records of living ranks are not compressed: %v", err)
		} else {
			defer c.Close()
			s.spool.release = c.Release
		}
	}
	heartbeats := make(chan struct{})
	beating, stopBeating := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(heartbeats)
		s.beat(beating)
	}()
	end := make(chan time.Time, 1)
	context.AfterFunc(ctx, func() {
		end <- time.Now()
		s.report() // a current upload may use the rest of the grace period
	})
	defer s.names.close()
	s.watch(ctx)
	begun := <-end
	s.finish(context.WithoutCancel(ctx), begun)
	lost := s.report()
	stopBeating()
	<-heartbeats
	s.lastHeartbeat(context.WithoutCancel(ctx), begun, lost)
	return s.report()
}

// watch ships while ranks come and go.
func (s *ship) watch(ctx context.Context) {
	s.beginAudits()
	for {
		s.names.listen(s.Options)
		s.pack(ctx)
		if !s.backoff.wait() {
			s.sweep(ctx, false)
		}
		s.audit(false)
		select {
		case <-ctx.Done():
			return
		case <-time.After(s.Scan):
		}
	}
}

// finish ships everything and retries until the grace period is nearly over.
func (s *ship) finish(ctx context.Context, begun time.Time) {
	deadline := begun.Add(s.Grace - s.reserve())
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	s.Logf("the pod ends: uploading what is left, for at most %s", time.Until(deadline).Round(time.Second))
	s.mu.Lock()
	clear(s.kept) // retry the unusable ones once
	s.mu.Unlock()
	s.backoff = backoff{}
	naming := s.names.pending()
	for !s.sweep(ctx, true) {
		pause := min(s.backoff.next(), maxFinalPause, time.Until(deadline)-finalTry)
		if pause <= 0 {
			return
		}
		time.Sleep(pause)
	}
	if naming || s.names.pending() {
		// what was uploaded is complete but for these names
		s.names.wait(ctx, min(maxNaming, time.Until(deadline)-finalTry))
		s.sweep(ctx, true)
	}
}

const (
	// maxFinalPause is the maximum pause between retries at the end of the pod: what is not
	// uploaded then is lost.
	maxFinalPause = 2 * time.Second
	// maxNaming is how long the end of the pod is delayed for names of call sites.
	maxNaming = 10 * time.Second
	// finalTry is the time reserved for the last retry.
	finalTry = time.Second
)

// snapshotShare is the minimum ratio of the pause between two uploads of a running world to the
// duration of an upload.
var snapshotShare time.Duration = 20

// sweep scans the spool and ships every world that changed. At the end it ships running ranks, too,
// with their calls so far. It reports whether everything that is to be shipped now is in the store.
func (s *ship) sweep(ctx context.Context, atEnd bool) (all bool) {
	defer func() {
		if failed := recover(); failed != nil {
			s.Logf("the sidecar failed and goes on: %v", failed)
			s.backoff.failed()
			all = false
		}
	}()
	processes, err := s.scan()
	if err != nil {
		s.Logf("the spool cannot be read: %v", err)
		s.backoff.failed()
		return !atEnd
	}
	if err := s.restore(ctx, processes); err != nil {
		return s.fail(ctx, atEnd, "the storage", err)
	}
	worlds := byWorld(s.unshipped(processes))
	s.mu.Lock()
	unread := s.spool.unread
	s.mu.Unlock()
	for _, launchID := range sortedLaunches(worlds) {
		w := s.world(launchID)
		switch err := s.tryWorld(ctx, w, worlds[launchID], atEnd); {
		case errors.Is(err, errUnread):
			unread = true
			s.Logf("world %s: %v", worldID(launchID), err)
		case errors.Is(err, errUnusable):
			s.keepUnusable(w, worlds[launchID], err)
		case errors.Is(err, errOvertaken):
			s.forgetStore()
			return s.fail(ctx, atEnd, "world "+worldID(launchID), err)
		case err != nil:
			// other worlds would fail in the same way
			return s.fail(ctx, atEnd, "world "+worldID(launchID), err)
		}
	}
	s.succeeded()
	if unread && atEnd {
		s.backoff.failed()
		return false
	}
	if !unread { // a launch may have no process in worlds because none could be read
		s.forget(worlds)
	}
	if !atEnd && s.discard(processes) {
		s.audit(true)
	}
	return true
}

// forget drops launches without processes in the spool: their directories are not changed again.
func (s *ship) forget(worlds map[string][]process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for launchID := range s.worlds {
		if _, there := worlds[launchID]; !there {
			delete(s.worlds, launchID)
		}
	}
}

// fail records the error of an upload. It returns false.
func (s *ship) fail(ctx context.Context, atEnd bool, what string, err error) bool {
	if ctx.Err() != nil && !atEnd {
		return false // the pod ends: there is one more try
	}
	s.mu.Lock()
	s.storage = err
	s.mu.Unlock()
	s.Logf("%s: %v", what, err)
	s.backoff.failed()
	return false
}

func (s *ship) succeeded() {
	s.mu.Lock()
	s.storage = nil
	s.mu.Unlock()
	s.backoff = backoff{}
}

// Errors of one world, which do not affect others.
var (
	// errUnread is the error for a process that the system could not read: retry.
	errUnread = errors.New("not all of it can be read now")
	// errUnusable is the error for processes of which no shard can be made.
	errUnusable = errors.New("no shard can be made of it")
)

// tryWorld is shipWorld, with panics turned into problems of that world.
func (s *ship) tryWorld(ctx context.Context, w *world, members []process, atEnd bool) (err error) {
	defer func() {
		if failed := recover(); failed != nil {
			err = fmt.Errorf("%w: the sidecar failed on it: %v", errUnusable, failed)
		}
	}()
	return s.shipWorld(ctx, w, members, atEnd)
}

// keepUnusable keeps the ended processes of a world of which no shard can be made. Running ones are
// retried when they are due.
func (s *ship) keepUnusable(w *world, members []process, err error) {
	w.next = time.Now().Add(between(s.Checkpoint*3/4, s.Checkpoint))
	var problems []string
	members = s.unshipped(members) // a shard with some of them may have succeeded
	for _, p := range members {
		problems = append(problems, fmt.Sprintf("process %s of world %s cannot be used: %v", p.name, worldID(w.launchID), err))
	}
	s.note(problems)
	s.mu.Lock()
	defer s.mu.Unlock()
	w.failed = err
	for _, p := range members {
		if !p.alive {
			s.keep(p)
		}
	}
	s.requestHeartbeat()
}

// keep records, with mu locked, that a process left unusable data. Its ranks are lost; the merge
// might not know them otherwise, since they may be in no shard.
func (s *ship) keep(p process) {
	s.kept[p.name] = true
	s.unrecorded.add(p.name, p.title()+": its records cannot be used")
}

// shipWorld ships a world if that is due.
func (s *ship) shipWorld(ctx context.Context, w *world, members []process, atEnd bool) error {
	running := slices.ContainsFunc(members, func(p process) bool { return p.alive })
	naming := s.names.pending() // asked before the tables are listed
	now := state(members, s.tables.resolved())
	if running && !atEnd {
		// collect ranks that end one by one in one upload
		if w.next.IsZero() {
			// all pods of a job begin at the same time: spread their uploads
			w.next = time.Now().Add(between(s.Checkpoint/2, s.Checkpoint))
			return nil
		}
		if time.Now().Before(w.next) {
			return nil
		}
		return s.checkpoint(ctx, w, members, naming)
	}
	switch {
	case running || !s.isShipped(w, now): // at the end, running ranks have continued since
		return s.upload(ctx, w, members, now, atEnd)
	case atEnd || naming: // a shard is made again when there are more names
		return nil
	}
	return s.settle(ctx, w, members)
}

// checkpoint ships a world with running ranks. Ended ones go into a separate, final shard:
// otherwise a long launch would keep everything that its processes ever wrote. While there are more
// names to come, it would be made without them.
func (s *ship) checkpoint(ctx context.Context, w *world, members []process, naming bool) error {
	var living, ended []process
	for _, p := range members {
		if p.alive {
			living = append(living, p)
		} else {
			ended = append(ended, p)
		}
	}
	if len(ended) == 0 || naming {
		return s.upload(ctx, w, members, state(members, s.tables.resolved()), false)
	}
	open := w.open
	w.open = nil
	err := s.upload(ctx, w, ended, "", false)
	if err == nil {
		err = s.settle(ctx, w, ended)
	}
	if err != nil {
		w.open = append(open, w.open...)
		return err
	}
	w.open = open
	return s.upload(ctx, w, living, state(living, s.tables.resolved()), false)
}

func (s *ship) isShipped(w *world, now string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return w.shipped == now
}

// scan scans the spool.
func (s *ship) scan() ([]process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spool.scan()
}

// unshipped returns the processes that are not completely in the store.
func (s *ship) unshipped(processes []process) []process {
	return slices.DeleteFunc(slices.Clone(processes), func(p process) bool { return s.inStore[p.name] || s.kept[p.name] })
}

// maxNoted is the maximum number of problems that are kept; further ones are counted.
const maxNoted = 10 * maxProblems

// note adds problems to the heartbeat, without duplicates.
func (s *ship) note(problems []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range problems {
		switch {
		case slices.Contains(s.ended, p):
			continue
		case len(s.ended) < maxNoted:
			s.ended = append(s.ended, p)
		default:
			s.more++
		}
		s.Logf("%s", p)
	}
}

// report reports what is not in the store, and returns it.
func (s *ship) report() []string {
	s.reporting.Lock()
	defer s.reporting.Unlock()
	s.mu.Lock()
	o := Outcome{Lost: s.lost(), Storage: s.storage}
	s.mu.Unlock()
	s.Report(o)
	return o.Lost
}

// lost returns the ranks that are not in the store, a line per world.
func (s *ship) lost() []string {
	processes, err := s.spool.scan()
	if err != nil {
		return []string{fmt.Sprintf("the spool cannot be read: %v", err)}
	}
	var lost []string
	worlds := byWorld(s.unshipped(processes))
	for _, launchID := range sortedLaunches(worlds) {
		members, w := worlds[launchID], s.worlds[launchID]
		why := "the grace period ended"
		switch {
		case w == nil && s.storage != nil:
			why = s.storage.Error()
		case w == nil:
		case w.shipped == state(members, s.tables.resolved()):
			continue
		case w.failed != nil:
			why = w.failed.Error()
		}
		var names []string
		for _, p := range members {
			names = append(names, rankName(p, w))
		}
		lost = append(lost, fmt.Sprintf("world %s, %s: %s", worldID(launchID), strings.Join(names, ", "), why))
	}
	return lost
}

// rankName names a process of a world (nil: unknown) that was not uploaded completely, by its rank
// if known.
func rankName(p process, w *world) string {
	if p.rank != "" {
		return "rank " + p.rank
	}
	if w != nil {
		if rank, put := w.ranks[p.identity]; put {
			return fmt.Sprintf("rank %d", rank)
		}
	}
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
