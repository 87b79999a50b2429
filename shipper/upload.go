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

// The processes of a world go to the store in packs, one after the other, so that no more than one is in memory. What
// regular ranks call is the same, and takes little: they are one pack. The grammar of an irregular one takes megabytes,
// and has nothing in common with others.
//
// A pack has a directory of the store, and its processes stay there. When they have become too large, some go to another
// directory: first they are put there, then the one that they were in is replaced. So at any time all that was ever put
// is in the store. A process that is in two directories counts once, and the next upload goes on with the one that it
// went to.

// maxPack is how many bytes of memory are enough for a pack: processes are added until it takes that much
// (spool.Report.Memory). Those that are together already may grow to half as much again. Tests have less.
var maxPack int64 = 8 << 20

// maxReads is how often a world is read of which the system cannot read all.
const maxReads = 5

// An upload puts what a world's processes are now.
type upload struct {
	*ship
	world  *world
	atEnd  bool
	stored map[identity]bool // processes of which the store has what they are now
	used   map[*located]bool // directories that were put, or need not be

	// resolved are the tables of symbols that were there before a process was read: one that comes later may name a site that
	// this upload has without a name.
	resolved string

	unread     []string // problems of processes that may be readable the next time
	patient    bool     // these are waited for
	unusable   map[string]bool
	unrecorded map[string]bool
}

// upload makes the shards of a world and puts them into the store. What cannot be read now is waited for; at the end the
// others do not wait for it.
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
	// a long run takes long to snapshot: that must not become all the sidecar does. Pods whose uploads have come to be at one
	// time, because the store was away, part again
	w.next = time.Now().Add(max(between(s.Checkpoint*3/4, s.Checkpoint), snapshotShare*time.Since(begun)))
	s.mu.Lock()
	defer s.mu.Unlock()
	w.failed = err
	if err == nil {
		w.shipped = now
		w.unusable = u.unusable
		for _, p := range members {
			if !u.unusable[p.name] && !u.unrecorded[p.name] {
				delete(s.unrecorded, p.name) // it could be used after all
			}
		}
		s.ask()
	}
	return err
}

func (u *upload) all(ctx context.Context, members []process) error {
	groups, newcomers := u.groups(members)
	for _, l := range slices.Backward(slices.Clone(u.world.open)) {
		if len(l.holds()) == 0 || u.used[l] {
			continue // it is for processes that leave another one
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

// groups sorts processes by the directory that they are in; newcomers are in none.
func (u *upload) groups(members []process) (groups map[*located][]process, newcomers []process) {
	in := map[identity]*located{}
	for _, l := range u.world.open {
		for _, id := range l.holds() {
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

// group puts the processes of a directory (nil: of none) and newcomers.
func (u *upload) group(ctx context.Context, l *located, members, newcomers []process) error {
	if l != nil && len(newcomers) == 0 && l.done != "" && !l.doubtful && l.done == u.state(members) {
		u.used[l] = true
		u.has(l.holds())
		return nil
	}
	all := slices.Concat(members, newcomers)
	for at := 0; at < len(all); {
		k := newCollector(u.world.launchID, u.Identity, u.tables)
		for ; at < len(all); at++ {
			limit := maxPack
			if at < len(members) {
				limit += maxPack / 2
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

// flush puts the packs of a collector: into the directory that the processes are in, if they are all of it that is left there,
// else into another one.
func (u *upload) flush(ctx context.Context, l *located, k *collector) (err error) {
	taken := k.taken
	defer func() {
		if failed := recover(); failed != nil {
			err = fmt.Errorf("%w: the sidecar failed on it: %v", errUnusable, failed)
		}
		if errors.Is(err, errUnusable) { // the others do not suffer from it
			u.cannotUse(taken, err)
			err = nil
		}
	}()
	k.finish()
	if k.joined() {
		// times are coded anew then, for which all calls have to be known
		k = newCollector(u.world.launchID, u.Identity, u.tables)
		for _, p := range taken {
			p.apart = false
			k.add(p)
		}
		k.finish()
	}
	u.noteUnrecorded(k.unrecorded) // before its directory may go
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

// state is that of processes in any order.
func (u *upload) state(processes []process) string {
	processes = slices.SortedFunc(slices.Values(processes), func(a, b process) int { return strings.Compare(a.name, b.name) })
	return state(processes, u.resolved)
}

// cannotUse notes that no shard can be made of some processes.
func (u *upload) cannotUse(processes []process, err error) {
	var problems []string
	for _, p := range processes {
		if !u.stored[p.identity] {
			problems = append(problems, fmt.Sprintf("process %s cannot be used: world %s: %v", p.name, worldID(u.world.launchID), err))
			u.unusable[p.name] = true
		}
	}
	u.note(problems)
}

// putPack puts a pack into a directory, if that holds nothing else, or into a free one, and says which.
func (u *upload) putPack(ctx context.Context, l *located, p *pack) (*located, error) {
	if l == nil || u.used[l] || !u.covers(l, p.holds()) {
		l = u.free()
	}
	if err := u.put(ctx, l, p); err != nil {
		return nil, err
	}
	u.used[l] = true
	u.has(p.holds())
	u.mu.Lock()
	defer u.mu.Unlock()
	for i, id := range p.holds() {
		u.world.ranks[id] = p.manifest.Ranks[i].Rank
	}
	return l, nil
}

// has notes that the store has processes as they are now.
func (u *upload) has(list []identity) {
	for _, id := range list {
		u.stored[id] = true
	}
}

// covers reports whether a directory holds nothing but these processes and such as are elsewhere.
func (u *upload) covers(l *located, these []identity) bool {
	return !slices.ContainsFunc(l.holds(), func(id identity) bool {
		return !u.stored[id] && !u.world.closed[id] && !slices.Contains(these, id)
	})
}

// free is a directory that nothing was put into. It is the last one: its processes come from others.
func (u *upload) free() *located {
	w := u.world
	i := slices.IndexFunc(w.open, func(l *located) bool { return l.manifest.Empty() && !u.used[l] })
	l := (*located)(nil)
	if i >= 0 {
		l = w.open[i]
		w.open = slices.Delete(w.open, i, i+1)
	} else {
		l = u.fresh(w)
	}
	w.open = append(w.open, l)
	return l
}

// tidy empties the directories whose processes are elsewhere. One that has others stays as it is.
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
			_ = u.Store.Delete(ctx, u.key(l, before)) // it costs nothing but space
		}
	}
	u.world.open = open
	return nil
}
