package program

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace"
)

// A writer words nodes.
type writer struct {
	trace      timeline.Trace
	options    Options
	signatures []trace.Signature
	columns    []trace.Numbers
	classes    []class
	relative   bool           // peers are worded relative to the rank
	streams    map[int]string // what sequences come to, by number
}

// parameters are those of a call, in the order of the function's list: what it was given, then what it gave; buffers
// and statuses left out.
func (w *writer) parameters(n *node) []Parameter {
	f := w.trace.Function(w.signatures[n.calls[0].cycle[0]].Function)
	if f == nil {
		return nil
	}
	var list []Parameter
	in, out := 0, 0
	for i := range f.Parameters {
		p := &f.Parameters[i]
		if p.Direction != trace.Out {
			if one := w.parameter(n, p, in, i, false); len(one.Values) > 0 {
				list = append(list, one)
			}
			in++
		}
		if p.Direction != trace.In {
			if one := w.parameter(n, p, out, i, true); len(one.Values) > 0 && p.Direction == trace.Out {
				list = append(list, one)
			}
			out++
		}
	}
	slices.SortStableFunc(list, func(a, b Parameter) int {
		switch {
		case a.Result == b.Result:
			return 0
		case b.Result:
			return -1
		}
		return 1
	})
	return list
}

// parameter is the k-th value of its direction in all variants of a call, equal ones together.
func (w *writer) parameter(n *node, p *trace.Parameter, k, number int, output bool) Parameter {
	one := Parameter{Name: p.Name, Result: output, Values: []Value{}}
	if p.Kind == "status" || output && p.Kind == "buffer" {
		return one
	}
	w.relative = false
	g := w.group(n, p, k, number, output)
	if p.Kind == "rank" && len(g.groups) > 1 && w.onWorld(n) {
		w.relative = true
		if relative := w.group(n, p, k, number, output); len(relative.groups) < len(g.groups) {
			g = relative
		}
	}
	one.Values = g.values()
	return one
}

// onWorld tells whether a call is one on MPI_COMM_WORLD, where the caller's rank is its rank in the trace.
func (w *writer) onWorld(n *node) bool {
	return !slices.ContainsFunc(n.calls, func(v variant) bool {
		return slices.ContainsFunc(v.cycle, func(terminal int32) bool {
			return !slices.ContainsFunc(w.signatures[terminal].In, func(x trace.Value) bool {
				return x.Form == trace.Name && x.Text == "MPI_COMM_WORLD"
			})
		})
	})
}

// group puts the ranks together that have the same k-th value of its direction.
func (w *writer) group(n *node, p *trace.Parameter, k, number int, output bool) grouping {
	g := grouping{at: map[string]int{}}
	for _, v := range n.calls {
		lists := make([]*trace.Value, len(v.cycle))
		varies := p.Kind == "rank" && (w.relative || w.options.Peer != nil)
		for i, terminal := range v.cycle {
			values := w.signatures[terminal].In
			if output {
				values = w.signatures[terminal].Out
			}
			if k >= len(values) {
				return g
			}
			lists[i] = &values[k]
			varies = varies || differs(lists[i])
		}
		for _, c := range v.classes {
			threads := w.classes[c].threads
			if len(threads) == 0 { // of a part
				g.add(w.inTurn(v.cycle, lists, p.Kind, number, output, -1))
				continue
			}
			if !varies {
				var ranks []int
				for _, thread := range threads {
					ranks = append(ranks, w.rank(thread))
				}
				g.add(w.inTurn(v.cycle, lists, p.Kind, number, output, threads[0]), ranks...)
				continue
			}
			for _, thread := range threads {
				g.add(w.inTurn(v.cycle, lists, p.Kind, number, output, thread), w.rank(thread))
			}
		}
	}
	return g
}

// differs tells whether a value has to be worded for each thread.
func differs(v *trace.Value) bool {
	switch v.Form {
	case trace.Column, trace.Stream:
		return true
	case trace.Elastic:
		return trace.Operator(v.Int) == trace.Cases
	case trace.List, trace.Status:
		for i := range v.List {
			if differs(&v.List[i]) {
				return true
			}
		}
	}
	return false
}

// inTurn words what an argument is in one call after the other.
func (w *writer) inTurn(cycle []int32, values []*trace.Value, kind string, number int, output bool, thread int) string {
	words := make([]string, len(cycle))
	same := true
	for i, terminal := range cycle {
		if w.options.Peer != nil && kind == "rank" && thread >= 0 {
			words[i] = w.options.Peer(thread, terminal, number, output)
		}
		if words[i] == "" {
			words[i] = w.value(values[i], kind, terminal, thread)
		}
		same = same && words[i] == words[0]
	}
	if same {
		return words[0]
	}
	const few = 8
	if len(words) > few+1 {
		words = append(words[:few-1:few-1], "…", words[len(words)-1])
	}
	return strings.Join(words, ", ") + " in turn"
}

// A grouping puts ranks with one value together.
type grouping struct {
	groups []group
	at     map[string]int
	total  int
}

type group struct {
	text  string
	ranks []int
}

func (g *grouping) add(text string, ranks ...int) {
	g.total += len(ranks)
	if text == "" {
		return
	}
	i, known := g.at[text]
	if !known {
		i = len(g.groups)
		g.at[text] = i
		g.groups = append(g.groups, group{text: text})
	}
	g.groups[i].ranks = append(g.groups[i].ranks, ranks...)
}

// values are the groups, that of most ranks first.
func (g *grouping) values() []Value {
	list := []Value{}
	slices.SortStableFunc(g.groups, func(a, b group) int { return cmp.Compare(len(b.ranks), len(a.ranks)) })
	for i, one := range g.groups {
		if i == maxGroups && len(g.groups) > maxGroups+1 {
			var rest []int
			for _, other := range g.groups[i:] {
				rest = append(rest, other.ranks...)
			}
			return append(list, Value{Text: fmt.Sprintf("%d other values", len(g.groups)-i), Ranks: ranksText(rest)})
		}
		v := Value{Text: one.text}
		if len(one.ranks) < g.total {
			v.Ranks = ranksText(one.ranks)
		}
		list = append(list, v)
	}
	return list
}

// maxGroups bounds the values of a parameter, and the trip counts in the text, that are told apart by rank.
const maxGroups = 8

// value words a value; "" for what says nothing. thread −1: of no particular one.
func (w *writer) value(v *trace.Value, kind string, terminal int32, thread int) string {
	switch v.Form {
	case trace.Absent, trace.Pointer:
		return ""
	case trace.Null:
		return "NULL"
	case trace.Int:
		if opaque(kind) {
			return fmt.Sprintf("%s#%d", kind, v.Int)
		}
		if kind == "rank" && w.relative && thread >= 0 {
			return offset(v.Int - int64(w.rank(thread)))
		}
		return strconv.FormatInt(v.Int, 10)
	case trace.Float:
		return strconv.FormatFloat(math.Float64frombits(uint64(v.Int)), 'g', -1, 64)
	case trace.Text:
		return strconv.Quote(v.Text)
	case trace.Name:
		return v.Text
	case trace.Handle:
		return fmt.Sprintf("%s#%d", kind, v.Int)
	case trace.List, trace.Status:
		return w.list(v.List, kind, terminal, thread)
	case trace.RankOffset:
		return offset(v.Int)
	case trace.Stream, trace.ListStream:
		return w.stream(v, kind, terminal, thread)
	case trace.Code:
		if sites := w.trace.Sites(); v.Int > 0 && v.Int <= int64(len(sites)) && sites[v.Int-1].Function != "" {
			return sites[v.Int-1].Function
		}
		return "a function"
	case trace.Column:
		if x, ok := w.column(v.Int, thread); ok {
			return w.value(&trace.Value{Form: trace.Int, Int: x}, kind, terminal, thread)
		}
	case trace.Elastic:
		return w.elastic(v, kind, terminal, thread)
	}
	return "differs by rank"
}

// opaque tells whether values of this kind are handles of MPI: what is not a number to the program.
func opaque(kind string) bool {
	switch kind {
	case "comm", "datatype", "op", "group", "win", "file", "info", "request", "message", "errhandler", "session":
		return true
	}
	return false
}

// offset is a place relative to the caller.
func offset(b int64) string {
	if b == 0 {
		return "rank"
	}
	return fmt.Sprintf("rank%+d", b)
}

func (w *writer) column(k int64, thread int) (int64, bool) {
	if thread < 0 || k < 0 || k >= int64(len(w.columns)) {
		return 0, false
	}
	place := int(w.trace.Threads().Places().At(thread))
	if place >= w.columns[k].Len() {
		return 0, false
	}
	return w.columns[k].At(place), true
}

// rank is that of a thread.
func (w *writer) rank(thread int) int { return int(w.trace.Threads().Ranks().At(thread)) }

func (w *writer) elastic(v *trace.Value, kind string, terminal int32, thread int) string {
	n := make([]int64, len(v.List))
	for i := range v.List {
		n[i] = v.List[i].Int
	}
	switch op := trace.Operator(v.Int); {
	case op == trace.Modulo && len(n) == 2:
		return fmt.Sprintf("(%s) mod %d", offset(n[0]), n[1])
	case op == trace.Cartesian && len(n) >= 3 && len(n)%2 == 1:
		k := len(n) / 2
		extents, steps := make([]string, k), make([]string, k)
		for i := range k {
			extents[i], steps[i] = fmt.Sprint(n[1+i]), fmt.Sprintf("%+d", n[1+k+i])
		}
		return fmt.Sprintf("coordinates(%s) of %s", strings.Join(steps, ", "), strings.Join(extents, "x"))
	case op == trace.Stride && len(n) == 4:
		term := "rank"
		if n[2] != 1 {
			term = fmt.Sprintf("(rank div %d)", n[2])
		}
		if n[3] != 0 {
			term = fmt.Sprintf("(%s mod %d)", term, n[3])
		}
		if n[1] != 1 {
			term = fmt.Sprintf("%d·%s", n[1], term)
		}
		if n[0] == 0 {
			return term
		}
		return fmt.Sprintf("%d+%s", n[0], term)
	case op == trace.Cases && len(n) > 0:
		if x, ok := w.column(n[0], thread); ok && x >= 0 && x < int64(len(v.List)-1) && v.List[1+x].Form != trace.Status {
			if inner := &v.List[1+x]; inner.Form != trace.Elastic || trace.Operator(inner.Int) != trace.Cases {
				return w.value(inner, kind, terminal, thread)
			}
		}
	case op == trace.Constant && len(v.List) == 2 && v.List[1].Form != trace.Elastic:
		return w.value(&v.List[1], kind, terminal, thread)
	case op == trace.RelativeStream && len(n) == 1:
		return "varies, relative to rank"
	}
	return "differs by rank"
}

// Limits on how much of streams is looked at: values of one, and the threads of the trace.
const (
	maxStream  = 1 << 16
	maxStreams = 64
)

// stream says what a value that varies from call to call is.
func (w *writer) stream(v *trace.Value, kind string, terminal int32, thread int) string {
	if v.Form == trace.ListStream || opaque(kind) || kind == "double" || thread < 0 {
		return "varies"
	}
	t := w.trace.Threads().At(thread)
	ref, there := t.Stream(terminal, int32(v.Int))
	if !there || w.trace.Threads().Len() > maxStreams {
		return "varies"
	}
	number := int(ref.Sequence)
	words, known := w.streams[number]
	if !known {
		if w.streams == nil {
			w.streams = map[int]string{}
		}
		words = w.sequence(number)
		w.streams[number] = words
	}
	return words
}

// sequence says what the values of a sequence are.
func (w *writer) sequence(number int) string {
	values, err := w.trace.Sequence(number)
	if err != nil || len(values) == 0 || len(values) > maxStream {
		return "varies"
	}
	least, most := slices.Min(values), slices.Max(values)
	if least == most {
		return strconv.FormatInt(least, 10)
	}
	return fmt.Sprintf("varies (%d to %d)", least, most)
}

// list words the elements of an array, handles in a row as "request#0-7".
func (w *writer) list(values []trace.Value, kind string, terminal int32, thread int) string {
	const few = 12
	var words []string
	for i := 0; i < len(values); {
		n := 1
		for values[i].Form == trace.Handle && i+n < len(values) && values[i+n].Form == trace.Handle && values[i+n].Int == values[i].Int+int64(n) {
			n++
		}
		if n > 2 {
			words = append(words, fmt.Sprintf("%s#%d-%d", kind, values[i].Int, values[i].Int+int64(n)-1))
			i += n
			continue
		}
		if len(words) == few {
			words = append(words, fmt.Sprintf("%d more", len(values)-i))
			break
		}
		words = append(words, w.value(&values[i], kind, terminal, thread))
		i++
	}
	return "[" + strings.Join(words, ", ") + "]"
}
