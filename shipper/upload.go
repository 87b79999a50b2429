package shipper

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cairn-mpi/cairn/shipper/shard"
)

// The processes of a world are uploaded in packs, one after the other, so that only one is in
// memory. Regular ranks make the same calls, which take little memory: they are one pack. The
// grammar of an irregular rank takes megabytes and shares nothing with others.
//
// A pack has a directory of the store, and its processes stay there. When they have become too
// large, some move to another directory: first they are put there, and then the directory that they
// were in is replaced. So the store has everything that was ever uploaded at any time. A process
// that is in two directories counts once, and the next upload uses the one that it moved to.

// maxPack is the size in memory at which a pack is complete (spool.Report.Memory). Processes that
// are in one directory already may grow to half as much again.
const maxPack int64 = 8 << 20

// maxReads is how often reading a world is retried when the system cannot read all of it.
const maxReads = 5

// An upload puts the current state of a world's processes into the store.
type upload struct {
	*ship
	world  *world
	atEnd  bool
	stored map[identity]bool // processes whose current state is in the store
	used   map[*located]bool // directories that were put, or need not be

	// resolved lists the tables of symbols that existed before a process was read: a later one may
	// resolve a site that this upload leaves unresolved.
	resolved string

	unread     []string // problems of processes that may be readable next time
	patient    bool     // wait for these
	unusable   map[string]bool
	unrecorded map[string]bool
}

// upload makes the shards of a world and puts them into the store. It waits for processes that
// cannot be read now, except at the end.
func (s *ship) upload(ctx context.Context, w *world, members []process, now string, atEnd bool) error {
	begun := time.Now()
	u := &upload{
		ship: s, world: w, atEnd: atEnd, stored: map[identity]bool{}, used: map[*located]bool{}, patient: w.reads+1 < maxReads,
		unusable: map[string]bool{}, unrecorded: map[string]bool{}, resolved: s.tables.resolved(),
	}
	err := u.all(ctx, members)
	if w.reads++; len(u.unread) == 0 {
		w.reads = 0
	} else if err == nil && u.patient {
		err = fmt.Errorf("%w: %s", errUnread, strings.Join(u.unread, "; "))
	}
	// A snapshot of a long run takes long: it must not become all that the sidecar does. The jitter
	// separates pods whose uploads were synchronized because the store was unavailable.
	w.next = time.Now().Add(max(between(s.Checkpoint*3/4, s.Checkpoint), snapshotShare*time.Since(begun)))
	s.mu.Lock()
	defer s.mu.Unlock()
	w.failed = err
	if err == nil {
		w.shipped = now
		w.unusable = u.unusable
		for _, p := range members {
			if !u.unusable[p.name] && !u.unrecorded[p.name] {
				delete(s.unrecorded, p.name) // it was usable after all
			}
		}
		s.requestHeartbeat()
	}
	return err
}

func (u *upload) all(ctx context.Context, members []process) error {
	groups, newcomers := u.groups(members)
	for _, l := range slices.Backward(slices.Clone(u.world.open)) {
		if len(l.identities()) == 0 || u.used[l] {
			continue // it is for processes that leave another directory
		}
		if err := u.group(ctx, l, groups[l], newcomers); err != nil {
			return err
		}
		newcomers = nil
	}
	if err := u.group(ctx, nil, nil, newcomers); err != nil {
		return err
	}
	return u.tidy(ctx)
}

// groups groups processes by their directory; newcomers are in none.
func (u *upload) groups(members []process) (groups map[*located][]process, newcomers []process) {
	in := map[identity]*located{}
	for _, l := range u.world.open {
		for _, id := range l.identities() {
			in[id] = l
		}
	}
	groups = map[*located][]process{}
	for _, p := range members {
		if l := in[p.identity]; l != nil {
			groups[l] = append(groups[l], p)
		} else {
			newcomers = append(newcomers, p)
		}
	}
	return groups, newcomers
}

// group puts the processes of a directory (nil: none) and newcomers.
func (u *upload) group(ctx context.Context, l *located, members, newcomers []process) error {
	if l != nil && len(newcomers) == 0 && l.done != "" && !l.doubtful && l.done == u.state(members) {
		u.used[l] = true
		u.has(l.identities())
		return nil
	}
	all := slices.Concat(members, newcomers)
	for at := 0; at < len(all); {
		k := newCollector(u.world.launchID, u.Identity, u.tables, false)
		for ; at < len(all); at++ {
			limit := u.maxPack
			if at < len(members) {
				limit += u.maxPack / 2
			}
			if k.memory >= limit {
				break
			}
			u.packEnded(ctx, all[at])
			k.add(all[at])
		}
		if err := u.flush(ctx, l, k); err != nil {
			return err
		}
	}
	return nil
}

// flush puts the packs of a collector: into the directory of the processes, if they are all that is
// left in it, else into another one.
func (u *upload) flush(ctx context.Context, l *located, k *collector) (err error) {
	taken := k.taken
	defer func() {
		if failed := recover(); failed != nil {
			err = fmt.Errorf("%w: the sidecar failed on it: %v", errUnusable, failed)
		}
		if errors.Is(err, errUnusable) { // others are not affected
			u.cannotUse(taken, err)
			err = nil
		}
	}()
	k.finish()
	if k.joined() {
		// times are coded again then, which requires all calls
		k = newCollector(u.world.launchID, u.Identity, u.tables, false)
		for _, p := range taken {
			p.apart = false
			k.add(p)
		}
		k.finish()
	}
	u.noteUnrecorded(k.unrecorded) // before its directory may be removed
	if u.unread = append(u.unread, k.unread...); !u.patient {
		k.problems = append(k.problems, k.unread...)
	}
	u.note(k.problems)
	for name := range k.unusable {
		u.unusable[name] = true
	}
	for name := range k.unrecorded {
		u.unrecorded[name] = true
	}
	if len(k.unread) > 0 && u.patient && !u.atEnd {
		return nil
	}
	for i := range k.packs {
		p := &k.packs[i]
		to, err := u.putPack(ctx, l, p)
		if err != nil {
			return err
		}
		if to.done = ""; p.manifest.Final && len(p.manifest.Ranks) == len(taken) {
			to.done = u.state(taken)
		}
	}
	return nil
}

// state is the state of processes, independent of their order.
func (u *upload) state(processes []process) string {
	processes = slices.SortedFunc(slices.Values(processes), func(a, b process) int { return strings.Compare(a.name, b.name) })
	return state(processes, u.resolved)
}

// cannotUse records that no shard can be made of some processes.
func (u *upload) cannotUse(processes []process, err error) {
	var problems []string
	for _, p := range processes {
		if !u.stored[p.identity] {
			problems = append(problems, fmt.Sprintf("process %s of world %s cannot be used: %v", p.name, worldID(u.world.launchID), err))
			u.unusable[p.name] = true
		}
	}
	u.note(problems)
}

// putPack puts a pack into a directory, if that contains nothing else, or into a free one. It
// returns the directory.
func (u *upload) putPack(ctx context.Context, l *located, p *pack) (*located, error) {
	if l == nil || u.used[l] || !u.covers(l, p.identities()) {
		l = u.free()
	}
	if err := u.put(ctx, l, p); err != nil {
		return nil, err
	}
	u.used[l] = true
	u.has(p.identities())
	u.mu.Lock()
	defer u.mu.Unlock()
	for i, id := range p.identities() {
		u.world.ranks[id] = p.manifest.Ranks[i].Rank
	}
	return l, nil
}

// has records that the current state of processes is in the store.
func (u *upload) has(list []identity) {
	for _, id := range list {
		u.stored[id] = true
	}
}

// covers reports whether a directory contains only these processes and processes that are
// elsewhere, too.
func (u *upload) covers(l *located, these []identity) bool {
	return !slices.ContainsFunc(l.identities(), func(id identity) bool {
		return !u.stored[id] && !u.world.closed[id] && !slices.Contains(these, id)
	})
}

// free returns an unused directory. It becomes the last one: its processes come from others.
func (u *upload) free() *located {
	w := u.world
	i := slices.IndexFunc(w.open, func(l *located) bool { return l.manifest.Empty() && !u.used[l] })
	l := (*located)(nil)
	if i >= 0 {
		l = w.open[i]
		w.open = slices.Delete(w.open, i, i+1)
	} else {
		l = u.newDirectory(w)
	}
	w.open = append(w.open, l)
	return l
}

// tidy empties the directories whose processes are all elsewhere. Others are not changed.
func (u *upload) tidy(ctx context.Context) error {
	if len(u.unread) > 0 && u.patient && !u.atEnd {
		return nil
	}
	var open []*located
	for _, l := range u.world.open {
		switch {
		case u.used[l] || l.manifest.Empty():
			open = append(open, l)
		case u.covers(l, nil):
			before := l.manifest.Shard
			if err := u.putManifest(ctx, l, shard.Manifest{World: l.manifest.World, LaunchID: l.manifest.LaunchID, Final: true}); err != nil {
				return err
			}
			_ = u.Store.Delete(ctx, u.key(l, before)) // a leftover costs only space
		}
	}
	u.world.open = open
	return nil
}
