package skeleton

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// A balance finds the loops that may be shortened to their first iterations, because these leave
// the same state as all of them. The conditions are:
//
//   - all ranks that have the loop make as many iterations of it;
//   - the first iterations receive all the messages that they send, and make all collective calls
//     of their communicators;
//   - they leave as many objects and operations pending as the last iteration.
type balance struct {
	scale float64
	loops map[int]*shortening // by number of the step
}

// A shortening is the information about a loop.
type shortening struct {
	iterations, first uint64 // all iterations, and those that are kept
	why               string // why it must not be shortened; "": it may be
	sends, receives   map[message]int
	collectives       map[int]map[int]int // by communicator and world rank
	seconds           float64             // of all ranks
	ranks             map[int]bool        // world ranks
	united            bool                // it may be shortened together with those of other ranks
}

// A message goes from a rank to another one of the communicator; −1 is any source, or any tag.
type message struct{ comm, source, destination, tag int }

// shortened is a loop of which the program has only the first iterations.
type shortened struct {
	*step
	first, iterations uint64
}

// iteration is the state of a behavior in a loop that may be shortened.
type iteration struct {
	began int64
	early string // pending operations after the first iterations
}

func newBalance(scale float64) *balance { return &balance{scale: scale, loops: map[int]*shortening{}} }

// shortenedTo returns how many iterations of a loop are kept.
func (b *balance) shortenedTo(s *step) (first, iterations uint64, found bool) {
	l := b.loops[s.Number]
	if l == nil || l.check() != "" || l.first == l.iterations {
		return 0, 0, false
	}
	return l.first, l.iterations, true
}

// begin is called before a rank executes a loop.
func (b *balance) begin(w *walker, s *step, n uint64) {
	l := b.loops[s.Number]
	first := max(1, uint64(math.Ceil(float64(n)*b.scale)))
	if l == nil {
		l = &shortening{iterations: n, first: first, sends: map[message]int{}, receives: map[message]int{}, collectives: map[int]map[int]int{}, ranks: map[int]bool{}}
		b.loops[s.Number] = l
	}
	if l.iterations != n {
		l.why = "ranks make different numbers of iterations"
	}
	l.ranks[w.rank] = true
	s.ranks[w.row].began = w.last
	w.tally = l
}

// iterated is called after an iteration of a loop.
func (b *balance) iterated(w *walker, s *step, k, n uint64) {
	l := b.loops[s.Number]
	if k == l.first {
		w.tally = nil
		s.ranks[w.row].early = w.pendingText()
	}
	if k == n {
		w.tally = nil
		l.seconds += float64(w.last-s.ranks[w.row].began) / 1e9
		if w.pendingText() != s.ranks[w.row].early {
			l.why = "its first iterations leave other operations under way than all of them"
		}
	}
}

// unite finds the loops that may be shortened together: those of different ranks with equal numbers
// of iterations, such as those of a master and its workers.
func (b *balance) unite() {
	byIterations := map[uint64][]*shortening{}
	for _, number := range slices.Sorted(maps.Keys(b.loops)) {
		if l := b.loops[number]; l.why == "" && l.check() != "" {
			byIterations[l.iterations] = append(byIterations[l.iterations], l)
		}
	}
	for _, list := range byIterations {
		all := &shortening{sends: map[message]int{}, receives: map[message]int{}, collectives: map[int]map[int]int{}, ranks: map[int]bool{}}
		apart := true
		for _, l := range list {
			for r := range l.ranks {
				apart = apart && !all.ranks[r]
				all.ranks[r] = true
			}
			for m, n := range l.sends {
				all.sends[m] += n
			}
			for m, n := range l.receives {
				all.receives[m] += n
			}
			for comm, members := range l.collectives {
				if all.collectives[comm] == nil {
					all.collectives[comm] = map[int]int{}
				}
				for r, n := range members {
					all.collectives[comm][r] += n
				}
			}
		}
		if apart && all.check() == "" {
			for _, l := range list {
				l.united = true
			}
		}
	}
}

// check returns why a loop must not be shortened, "" if it may be.
func (l *shortening) check() string {
	if l.why != "" || l.united {
		return l.why
	}
	sent, received := map[[2]int]int{}, map[[2]int]int{}
	for m, n := range l.sends {
		sent[[2]int{m.comm, m.destination}] += n
	}
	for m, n := range l.receives {
		received[[2]int{m.comm, m.destination}] += n
		if m.source >= 0 && m.tag >= 0 && n > l.sends[m] {
			return "its first iterations receive what later ones send"
		}
	}
	for to, n := range sent {
		if received[to] != n {
			return "its first iterations do not receive all that they send"
		}
	}
	for to := range received {
		if sent[to] != received[to] {
			return "its first iterations receive more than they send"
		}
	}
	for _, members := range l.collectives {
		n := -1
		for _, calls := range members {
			if n >= 0 && calls != n {
				return "ranks make different numbers of collective calls in its first iterations"
			}
			n = calls
		}
	}
	return ""
}

// An account is the pending operations and objects of a rank.
type account struct {
	tally      *shortening         // of the loop whose first iterations are being counted; nil: none
	open       map[int64]bool      // requests
	persistent map[int64][]started // messages of a started request
	living     map[string]int      // objects, by kind
}

type started struct {
	message
	receive bool
}

func newAccount(int) account {
	return account{open: map[int64]bool{}, persistent: map[int64][]started{}, living: map[string]int{}}
}

func (a *account) pendingText() string {
	var words []string
	for id := range a.open {
		words = append(words, fmt.Sprint("request ", id))
	}
	for kind, n := range a.living {
		if n != 0 {
			words = append(words, fmt.Sprint(kind, " ", n))
		}
	}
	slices.Sort(words)
	return strings.Join(words, ", ")
}

// follow updates the account with the next call.
func (w *walker) follow(e *trace.Event) {
	if w.messages.scale >= 1 || e.Semantics == nil {
		return
	}
	f := e.Semantics
	messages := w.messagesOf(e)
	switch f.Operation {
	case semantics.Send, semantics.Receive, semantics.SendReceive, semantics.MatchedReceive:
		if id, made := requestOf(e); made && f.IsPersistent() {
			w.persistent[id] = messages
			break
		} else if made {
			w.open[id] = true
		}
		w.tallied(messages)
	case semantics.Start:
		for _, id := range requestsIn(e) {
			w.open[id] = true
			w.tallied(w.persistent[id])
		}
	case semantics.Wait, semantics.WaitAll:
		if !failedPoll(f, e.Out) {
			for _, id := range requestsIn(e) {
				delete(w.open, id)
			}
		}
	case semantics.WaitAny, semantics.WaitSome:
		list := requestsIn(e)
		if k := f.Out[semantics.Index]; k >= 0 && int(k) < len(e.Out) {
			for _, at := range append(e.Out[k].List, e.Out[k]) {
				if at.Form == trace.Int && at.Int >= 0 && at.Int < int64(len(list)) {
					delete(w.open, list[at.Int])
				}
			}
		}
	case semantics.RequestFree:
		for _, id := range requestsIn(e) {
			delete(w.open, id)
		}
	default:
		if id, made := requestOf(e); made && !f.IsPersistent() {
			w.open[id] = true
		}
	}
	if f.Collective && w.tally != nil && !f.IsPersistent() {
		if w.tally.collectives[e.Comm] == nil {
			w.tally.collectives[e.Comm] = map[int]int{}
			if e.Comm >= 0 {
				for _, r := range w.trace.Communicators()[e.Comm].Members.Ranks() {
					w.tally.collectives[e.Comm][r] = 0
				}
			}
		}
		w.tally.collectives[e.Comm][w.rank]++
	}
	switch f.Synchronization {
	case semantics.SyncStart, semantics.SyncComplete, semantics.SyncPost, semantics.SyncWait, semantics.SyncTest:
		if w.tally != nil {
			w.tally.why = "epochs of one-sided communication are opened for some ranks in it"
		}
	}
	declared := mpi.ByID(e.Function.ID)
	if declared == nil {
		return
	}
	for i := range declared.Params {
		p := &declared.Params[i]
		switch {
		case p.Kind == mpi.KindRequest || !p.Kind.IsHandle():
		case p.Effect == mpi.EffectNew:
			w.living[p.Kind.String()]++
		case p.Effect == mpi.EffectFreed || p.Effect == mpi.EffectConsumed:
			w.living[p.Kind.String()]--
		}
	}
}

func (w *walker) tallied(messages []started) {
	if w.tally == nil {
		return
	}
	for _, m := range messages {
		if m.receive {
			w.tally.receives[m.message]++
		} else {
			w.tally.sends[m.message]++
		}
	}
}

// messagesOf returns the messages that a call sends and receives, or would if it were started.
func (w *walker) messagesOf(e *trace.Event) []started {
	f := e.Semantics
	var list []started
	value := func(r semantics.Role, any string) (int, bool) {
		k := f.In[r]
		if k < 0 || int(k) >= len(e.In) {
			return -1, true
		}
		v := &e.In[k]
		if v.Form == trace.Name {
			return -1, v.Text == any
		}
		return int(v.Int), true
	}
	tag, _ := value(semantics.Tag, "MPI_ANY_TAG")
	if to, there := value(semantics.Destination, ""); there && f.In[semantics.Destination] >= 0 {
		list = append(list, started{message{e.Comm, e.OwnRank, to, tag}, false})
	}
	if f.In[semantics.ReceiveTag] >= 0 {
		tag, _ = value(semantics.ReceiveTag, "MPI_ANY_TAG")
	}
	from, there := value(semantics.Source, "MPI_ANY_SOURCE")
	if there && (f.In[semantics.Source] >= 0 || f.Operation == semantics.MatchedReceive) {
		list = append(list, started{message{e.Comm, from, e.OwnRank, tag}, true})
	}
	return list
}

// requestOf returns the request that a call creates.
func requestOf(e *trace.Event) (int64, bool) {
	k := e.Semantics.Out[semantics.Request]
	if k < 0 || int(k) >= len(e.Out) || e.Semantics.In[semantics.Request] >= 0 || e.Out[k].Form != trace.Handle {
		return 0, false
	}
	return e.Out[k].Int, true
}

// requestsIn returns the requests in the inputs of a call, −1 for none.
func requestsIn(e *trace.Event) []int64 {
	k := e.Semantics.In[semantics.Request]
	if k < 0 || int(k) >= len(e.In) {
		return nil
	}
	values := e.In[k].List
	if e.In[k].Form != trace.List {
		values = e.In[k : k+1]
	}
	list := make([]int64, len(values))
	for i := range values {
		list[i] = -1
		if values[i].Form == trace.Handle {
			list[i] = values[i].Int
		}
	}
	return list
}
