package simgrid

import (
	"cmp"
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// A recorder records in which call each operation was posted and completed. It is a match.Watcher.
type recorder struct {
	locations   []timeline.Location
	current     []uint64 // by location: the call that is being matched
	threads     []thread
	collectives map[uint64]*collective // collectives that are not completed by all
	members     map[int][]int          // ranks of communicators with collectives
	tags        map[channel]int        // tags of channels
	fits        fits
	left        omissions
}

// A thread has what the calls of a location post and complete, in order.
type thread struct {
	posts   []post
	extra   []post // posts that become known late: see synchronization
	entries []entry
}

// A channel distinguishes messages between two ranks, in addition to their ranks.
type channel struct {
	comm int
	tag  int64
}

// Channels other than tags of the program.
const (
	collectiveTag = math.MinInt64 // messages of a communicator's collectives
	noComm        = -1            // channels of single synchronizations, numbered by the tag
)

// A post is one end of a message.
type post struct {
	call    uint64 // the call that posted it
	done    uint64 // the call that completed it, + 1; 0: none
	channel channel
	bytes   int64
	peer    int32 // rank
	send    bool
	known   bool // it has a partner
	mode    semantics.Mode
}

// An entry is the part of a rank in a collective.
type entry struct {
	call, done uint64 // like in post
	of         *collective
	part       int
}

// A collective is a collective that some rank entered.
type collective struct {
	comm     int
	class    match.Class
	root     int
	ranks    []int // by part; nil: some are missing
	apart    bool  // a thread other than a rank's first one takes part
	loose    bool  // some left it before others entered: it need not synchronize, and did not
	blocking int   // number of parts that completed it in the call that entered it
}

func newRecorder(t timeline.Trace) *recorder {
	locations := timeline.Locations(t)
	return &recorder{
		locations: locations, current: make([]uint64, len(locations)), threads: make([]thread, len(locations)),
		collectives: map[uint64]*collective{}, members: map[int][]int{}, tags: map[channel]int{}, left: omissions{},
	}
}

func (r *recorder) see(c *match.Call) { r.current[c.Location] = c.Index }

func (r *recorder) apart(location int) bool { return r.locations[location].Main != location }

// Posted implements match.Watcher.
func (r *recorder) Posted(e *match.End) {
	at := e.Post.Location
	t := &r.threads[at]
	t.posts = append(t.posts, post{call: r.current[at], mode: e.Mode})
	e.Posted = match.EventID{Location: int32(at), Ordinal: uint32(len(t.posts))}
}

func (r *recorder) posted(e *match.End) *post {
	if e.Posted.Ordinal == 0 {
		return nil
	}
	return &r.threads[e.Posted.Location].posts[e.Posted.Ordinal-1]
}

// Opened implements match.Watcher.
func (r *recorder) Opened(c *match.Completion) { c.Tag = r.current[c.Location] }

func after(c *match.Completion) uint64 {
	if c == nil {
		return 0
	}
	return c.Tag.(uint64) + 1
}

// Message implements match.Handler.
func (r *recorder) Message(m *match.Message) {
	if m.Receive.Probe || m.Kind == match.ExposedToStart {
		return
	}
	from, to := m.Send.Post.Location, m.Receive.Post.Location
	if m.Receive.Done != nil {
		to = m.Receive.Done.Location
	}
	if r.apart(from) || r.apart(to) {
		r.left.add("messages of threads other than the first of each rank", 1)
		return
	}
	if m.Kind != match.Data {
		r.synchronization(m, from, to)
		return
	}
	send, receive := r.posted(m.Send), r.posted(m.Receive)
	on := channel{m.Comm, m.Tag}
	r.tags[on] = 0
	send.send = true
	for _, p := range [...]*post{send, receive} {
		p.known, p.channel, p.bytes = true, on, max(0, m.Bytes)
	}
	send.peer, receive.peer = int32(r.locations[to].Rank), int32(r.locations[from].Rank)
	send.done, receive.done = after(m.Send.Done), after(m.Receive.Done)
	r.fits.message(m)
}

// synchronization records that a rank could not proceed before another one, as a message whose
// sender does not wait.
func (r *recorder) synchronization(m *match.Message, from, to int) {
	send := r.posted(m.Send)
	if send == nil || m.Receive.Done == nil {
		r.left.add("dependencies of one-sided communication whose call is unknown", 1)
		return
	}
	on := channel{noComm, int64(len(r.tags))}
	r.tags[on] = 0
	p := post{channel: on, bytes: max(0, m.Bytes), known: true}
	p.call, p.send, p.peer = send.call, true, int32(r.locations[to].Rank)
	r.threads[from].extra = append(r.threads[from].extra, p)
	p.call, p.send, p.peer = after(m.Receive.Done)-1, false, int32(r.locations[from].Rank)
	p.done = p.call + 1
	r.threads[to].extra = append(r.threads[to].extra, p)
}

// Entered implements match.Watcher.
func (r *recorder) Entered(c *match.Collective, part int) {
	of := r.collectives[c.Number]
	if of == nil {
		of = &collective{comm: c.Comm, class: c.Class, root: c.Root}
		r.collectives[c.Number] = of
	}
	at := c.Parts[part].Post.Location
	of.apart = of.apart || r.apart(at)
	t := &r.threads[at]
	t.entries = append(t.entries, entry{call: r.current[at], of: of, part: part})
	c.Parts[part].Entered = match.EventID{Location: int32(at), Ordinal: uint32(len(t.entries))}
}

// Collective implements match.Handler.
func (r *recorder) Collective(c *match.Collective, part int) {
	of := r.collectives[c.Number]
	if of == nil {
		return
	}
	if of.ranks == nil && c.Expected() == len(c.Parts) {
		of.ranks = r.ranksOf(c)
	}
	p := &c.Parts[part]
	of.loose = of.loose || isLoose(c, part)
	e := &r.threads[p.Entered.Location].entries[p.Entered.Ordinal-1]
	if e.done = after(p.Done); e.done == e.call+1 {
		of.blocking++
	}
}

// isLoose reports whether a part left an operation that need not synchronize before the last one
// entered.
func isLoose(c *match.Collective, part int) bool {
	switch c.Class {
	case match.Startup, match.Shutdown, match.Fence, match.Window, match.File:
		awaited := c.Awaited(part)
		return awaited >= 0 && c.Parts[awaited].Post.EnterStamp().After(c.Parts[part].Done.ExitStamp())
	case match.Barrier, match.AllToAll, match.OneToAll, match.AllToOne, match.Prefix, match.Neighbor:
	}
	return false
}

// Retired implements match.Watcher.
func (r *recorder) Retired(c *match.Collective) { delete(r.collectives, c.Number) }

// ranksOf returns the participants, by part; all collectives of a communicator share the list.
func (r *recorder) ranksOf(c *match.Collective) []int {
	ranks := make([]int, len(c.Parts))
	for i := range c.Parts {
		if c.Parts[i].Post.Location < 0 {
			return nil
		}
		ranks[i] = r.locations[c.Parts[i].Post.Location].Rank
	}
	if known := r.members[c.Comm]; slices.Equal(known, ranks) {
		return known
	}
	r.members[c.Comm] = ranks
	return ranks
}

// Progressed implements match.Watcher.
func (r *recorder) Progressed(*match.End) {}

// Settled implements match.Handler.
func (r *recorder) Settled(*match.Completion) {}

// arrange assigns tags to channels, and sorts in what became known late.
func (r *recorder) arrange(world int) {
	for comm := range r.members {
		r.tags[channel{comm, collectiveTag}] = 0
	}
	channels := make([]channel, 0, len(r.tags))
	for c := range r.tags {
		channels = append(channels, c)
	}
	slices.SortFunc(channels, func(a, b channel) int { return cmp.Or(cmp.Compare(a.comm, b.comm), cmp.Compare(a.tag, b.tag)) })
	used := map[int]bool{}
	own := func(c channel) bool { return c.comm == world && c.tag >= 0 }
	for _, c := range channels {
		if own(c) {
			used[int(c.tag)] = true
			r.tags[c] = int(c.tag)
		}
	}
	next := 0
	for _, c := range channels {
		if own(c) {
			continue
		}
		for used[next] {
			next++
		}
		r.tags[c] = next
		next++
	}
	for i := range r.threads {
		t := &r.threads[i]
		t.posts = append(t.posts, t.extra...)
		t.extra = nil
		slices.SortStableFunc(t.posts, func(a, b post) int { return cmp.Compare(a.call, b.call) })
	}
}
