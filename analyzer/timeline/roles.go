package timeline

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-mpi/cairn/trace"
)

// roleCalls is the number of a thread's first calls that its role depends on.
const roleCalls = 32

// Roles returns a number for each location that is the same for threads that do the same on all
// ranks, and in all runs: 0 for main threads, from 1 on for others. Numbers of a trace are in the
// order of the threads' first calls, which differs from rank to rank and from run to run. A rank
// has at most one thread of a role.
//
// Threads of a rank have different roles if they call MPI from different functions: with call paths
// the outermost ones, in which threads begin. Those that do not are ordered by what they call at
// first: functions, call sites and arguments, among which peers count last and relative to the
// caller; then by their number of calls, which is chance where a thread polls. Threads that do not
// differ in these keep the order of their first calls.
func Roles(ctx context.Context, t Trace) ([]int, error) {
	locations := Locations(t)
	roles := make([]int, len(locations))
	type kind struct {
		start   string
		ordinal int // among the rank's threads with these functions
	}
	kinds := map[kind][]int{} // locations
	starts := starts{trace: t, ofRule: map[int][]string{}}
	for first := 0; first < len(locations); {
		end := first + 1
		for end < len(locations) && locations[end].Main == first {
			end++
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		threads := make([]beginning, end-first-1)
		for i := range threads {
			var err error
			if threads[i], err = beginningOf(t, first+1+i, &starts); err != nil {
				return nil, err
			}
		}
		slices.SortStableFunc(threads, beginning.compare)
		for i, thread := range threads {
			ordinal := 0
			for ordinal < i && threads[i-ordinal-1].start == thread.start {
				ordinal++
			}
			k := kind{thread.start, ordinal}
			kinds[k] = append(kinds[k], thread.location)
		}
		first = end
	}
	order := make([]kind, 0, len(kinds))
	for k := range kinds {
		order = append(order, k)
	}
	slices.SortFunc(order, func(a, b kind) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.ordinal, b.ordinal)) })
	for i, k := range order {
		for _, location := range kinds[k] {
			roles[location] = 1 + i
		}
	}
	return roles, nil
}

// A beginning is what the role of a thread depends on.
type beginning struct {
	location int
	start    string  // the functions that it calls MPI from
	calls    []value // its first calls, without peers
	count    uint64  // of its calls
	peers    []value
}

// A value is a word or a number of a call.
type value struct {
	word   string
	number int64
}

func (b beginning) compare(other beginning) int {
	values := func(a, b value) int { return cmp.Or(cmp.Compare(a.word, b.word), cmp.Compare(a.number, b.number)) }
	return cmp.Or(cmp.Compare(b.start, other.start), slices.CompareFunc(b.calls, other.calls, values),
		slices.CompareFunc(b.peers, other.peers, values), cmp.Compare(b.count, other.count))
}

func beginningOf(t Trace, location int, starts *starts) (beginning, error) {
	thread := t.Threads().At(location)
	b := beginning{location: location, count: thread.Calls, start: strings.Join(starts.of(thread.Root), " ")}
	cursor, err := t.Calls(thread.Rank, thread.Thread)
	if err != nil {
		return b, err
	}
	for n := 0; n < roleCalls && cursor.Next(); n++ {
		e := cursor.Event()
		site := value{}
		if e.Site != nil {
			site = value{siteText(e.Site), int64(e.Site.Line)}
		}
		b.calls = append(b.calls, value{word: e.Function.Name}, site)
		in := 0
		for i := range e.Function.Parameters {
			p := &e.Function.Parameters[i]
			if p.Direction == trace.Out || in >= len(e.In) {
				continue
			}
			if p.Kind == "rank" || p.Kind == "root" {
				b.peers = appendNumbers(b.peers, &e.In[in], int64(thread.Rank), int64(t.Meta().WorldSize))
			} else {
				b.calls = appendNumbers(b.calls, &e.In[in], 0, 0)
			}
			in++
		}
	}
	if err := cursor.Err(); err != nil {
		return b, fmt.Errorf("rank %d, thread %d: %w", thread.Rank, thread.Thread, err)
	}
	return b, nil
}

// starts are the functions from which the calls of rules of the grammar are made, sorted.
type starts struct {
	trace  Trace
	ofRule map[int][]string
}

func (s *starts) of(rule int) []string {
	if list, known := s.ofRule[rule]; known {
		return list
	}
	sites, signatures := s.trace.Sites(), s.trace.Signatures()
	list := []string{}
	for _, symbol := range s.trace.Grammar().Rules[rule] {
		if symbol.IsRule() {
			list = append(list, s.of(symbol.Rule())...)
			continue
		}
		if site := signatures[symbol.Value].Site; site > 0 {
			outermost := &sites[site-1]
			for caller := range trace.CallPath(sites, outermost) {
				outermost = caller
			}
			list = append(list, siteText(outermost))
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	s.ofRule[rule] = list
	return list
}

// appendNumbers appends the numbers, constants and texts of an argument, numbers modulo size (0:
// none) relative to rank. Handles and addresses differ from run to run.
func appendNumbers(values []value, v *trace.Value, rank, size int64) []value {
	switch v.Form {
	case trace.Int:
		n := v.Int
		if size > 0 {
			n = ((n-rank)%size + size) % size
		}
		return append(values, value{number: n})
	case trace.Name, trace.Text:
		return append(values, value{word: v.Text})
	case trace.List:
		for i := range v.List {
			values = appendNumbers(values, &v.List[i], rank, size)
		}
	default:
	}
	return values
}

// siteText describes a call site alike in all runs of a program.
func siteText(s *trace.Site) string {
	if s.Function != "" {
		return s.Function
	}
	return strings.Join([]string{s.Module, strconv.FormatUint(s.Offset, 16)}, "+")
}
