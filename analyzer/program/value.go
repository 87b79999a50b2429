package program

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/funcname"
)

// A writer describes nodes in words.
type writer struct {
	search     *search
	trace      timeline.Trace
	options    Options
	signatures []trace.Signature
	columns    []codec.Numbers
	classes    []class
	streams    map[int]*spread // of sequences, by number
	lines      int             // number of lines left
	found      *Findings
	numberings map[string]int     // see exact.go
	looked     map[argumentOf]int // see streams.go
	cut        bool               // maxLooked was exceeded

	// see communicators.go
	created   []creator
	instances map[int32][]int64        // by number of a sequence: indices into lists of communicators
	members   map[int]map[int64]caller // by thread and handle
}

// parameters returns the parameters of a call, in the order of the function's list: inputs, then
// outputs; without buffers and statuses.
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
			if one := w.parameter(n, p, in, i, false); len(one.Values) > 0 || len(one.Exact) > 0 {
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

// parameter returns the k-th value of its direction in all variants of a call: a function of the
// rank if there is one.
func (w *writer) parameter(n *node, p *trace.Parameter, k, number int, output bool) Parameter {
	one := Parameter{Name: p.Name, Result: output, Values: []Value{}}
	if p.Kind == "status" || output && p.Kind == "buffer" {
		return one
	}
	rows := w.rows(n, p, k, number, output)
	one.Values = groupRows(rows, w.trace.Meta().WorldSize, w.options.Coordinates...).values()
	if w.options.Exact && !output {
		one.Exact = w.exact(n, p, k, number)
	}
	for _, v := range one.Values {
		w.lines -= len(v.Ranks) / longLine
	}
	return one
}

// rows returns the k-th value of its direction on all threads.
func (w *writer) rows(n *node, p *trace.Parameter, k, number int, output bool) []row {
	// to describe a value, and to look for a function of the rank
	const stepsOfValue, stepsOfRow = 8, 4
	var rows []row
	for _, v := range n.calls {
		lists := make([]*trace.Value, len(v.cycle))
		varies := false
		for i, terminal := range v.cycle {
			values := w.signatures[terminal].In
			if output {
				values = w.signatures[terminal].Out
			}
			if k >= len(values) {
				return nil
			}
			lists[i] = &values[k]
			varies = varies || differs(lists[i]) || p.Kind == "rank" && w.options.Peer != nil
		}
		for _, c := range v.classes {
			threads := w.classes[c].threads
			if len(threads) == 0 { // of a part
				if !w.search.step(stepsOfValue * len(v.cycle)) {
					return nil
				}
				rows = append(rows, row{rank: -1, atoms: w.atoms(v.cycle, lists, p.Kind, number, output, -1, caller{})})
				continue
			}
			var atoms []atom
			for i, thread := range threads {
				if !w.search.step(stepsOfRow * len(v.cycle)) {
					return nil
				}
				by := w.caller(v.cycle, thread)
				if i == 0 || varies {
					if !w.search.step(stepsOfValue * len(v.cycle)) {
						return nil
					}
					atoms = w.atoms(v.cycle, lists, p.Kind, number, output, thread, by)
				}
				rows = append(rows, row{w.rank(thread), by, atoms})
			}
		}
	}
	return rows
}

// atoms returns the values of an argument in successive calls. What depends on the rank is a number
// where the caller is known.
func (w *writer) atoms(cycle []int32, values []*trace.Value, kind string, number int, output bool, thread int, by caller) []atom {
	atoms := make([]atom, len(cycle))
	for i, terminal := range cycle {
		one := &atoms[i]
		if w.options.Peer != nil && kind == "rank" && thread >= 0 {
			one.text = w.options.Peer(thread, terminal, number, output)
		}
		if one.text != "" {
			continue
		}
		one.text = w.value(values[i], kind, terminal, thread)
		one.sums = strings.HasPrefix(one.text, varying) || strings.Contains(one.text, differsByRank)
		if trace.IsHandle(kind) {
			continue
		}
		one.number, one.isNumber = w.number(values[i], thread, by)
		if values[i].Form == trace.Stream && strings.HasPrefix(one.text, varying) {
			one.varies = w.spreadOf(values[i], kind, terminal, thread)
		} else if values[i].Form == trace.Stream {
			x, err := strconv.ParseInt(one.text, 10, 64)
			one.number, one.isNumber = x, err == nil
		}
	}
	return atoms
}

// differs reports whether a value has to be described for each thread.
func differs(v *trace.Value) bool {
	switch v.Form {
	case trace.Column, trace.Stream, trace.RankOffset, trace.Elastic:
		return true
	case trace.List, trace.Status:
		for i := range v.List {
			if differs(&v.List[i]) {
				return true
			}
		}
	}
	return false
}

// value describes a value; "" if there is nothing to say. thread −1: of no particular thread.
func (w *writer) value(v *trace.Value, kind string, terminal int32, thread int) string {
	v = w.resolved(v, kind, terminal, thread)
	switch v.Form {
	case trace.Absent, trace.Pointer:
		return ""
	case trace.Null:
		return "NULL"
	case trace.Int:
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
			return funcname.Short(sites[v.Int-1].Function)
		}
		return "a function"
	case trace.Elastic:
		return w.elastic(v)
	}
	return differsByRank
}

// offset describes a rank relative to the caller.
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
	place := int(w.trace.Threads().InShape().At(thread))
	if place >= w.columns[k].Len() {
		return 0, false
	}
	return w.columns[k].At(place), true
}

// number returns a value as a number, if it is one on a thread.
func (w *writer) number(v *trace.Value, thread int, by caller) (int64, bool) {
	switch v.Form {
	case trace.Int:
		return v.Int, true
	case trace.Column:
		return w.column(v.Int, thread)
	case trace.RankOffset:
		return v.Int + int64(by.rank), by.known
	case trace.Elastic:
		return w.elasticNumber(v, thread, by)
	}
	return 0, false
}

func (w *writer) elasticNumber(v *trace.Value, thread int, by caller) (int64, bool) {
	n := make([]int64, len(v.List))
	for i := range v.List {
		n[i] = v.List[i].Int
	}
	r := int64(by.rank)
	switch op := trace.Operator(v.Int); {
	case op == trace.Modulo && len(n) == 2 && n[1] > 0:
		return floorMod(r+n[0], n[1]), by.known
	case op == trace.Cartesian && (len(n) == 5 || len(n) == 7) && !slices.ContainsFunc(n[1:1+len(n)/2], func(x int64) bool { return x < 1 }):
		return shifted(r, n[1:1+len(n)/2], n[1+len(n)/2:]), by.known
	case op == trace.Stride && len(n) == 4 && n[2] > 0:
		q := r / n[2]
		if n[3] > 0 {
			q %= n[3]
		}
		return n[0] + n[1]*q, by.known
	case op == trace.Cases && len(n) > 0:
		if x, ok := w.column(n[0], thread); ok && x >= 0 && x < int64(len(v.List)-1) {
			if inner := &v.List[1+x]; inner.Form != trace.Elastic || trace.Operator(inner.Int) != trace.Cases {
				return w.number(inner, thread, by)
			}
		}
	case op == trace.Constant && len(v.List) == 2 && v.List[1].Form != trace.Elastic:
		return w.number(&v.List[1], thread, by)
	}
	return 0, false
}

// rank returns the rank of a thread.
func (w *writer) rank(thread int) int { return int(w.trace.Threads().Ranks().At(thread)) }

func (w *writer) elastic(v *trace.Value) string {
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
	case op == trace.RelativeStream && len(n) == 1:
		return "varies, relative to rank"
	}
	return differsByRank
}

// resolved returns the value of v on a thread where it is the same in all calls and needs no rank;
// otherwise v.
func (w *writer) resolved(v *trace.Value, kind string, terminal int32, thread int) *trace.Value {
	there := v
	switch {
	case v.Form == trace.Column:
		if x, ok := w.column(v.Int, thread); ok {
			there = &trace.Value{Form: trace.Int, Int: x}
		}
	case v.Form == trace.Stream:
		if of := w.spreadOf(v, kind, terminal, thread); of.known && of.least == of.most {
			there = &trace.Value{Form: trace.Int, Int: of.least}
		}
	case v.Form == trace.Elastic && trace.Operator(v.Int) == trace.Cases && len(v.List) > 0:
		if x, ok := w.column(v.List[0].Int, thread); ok && x >= 0 && x < int64(len(v.List)-1) {
			if inner := &v.List[1+x]; inner.Form != trace.Elastic || trace.Operator(inner.Int) != trace.Cases {
				there = w.resolved(inner, kind, terminal, thread)
			}
		}
	case v.Form == trace.Elastic && trace.Operator(v.Int) == trace.Constant && len(v.List) == 2 && v.List[1].Form != trace.Elastic:
		there = w.resolved(&v.List[1], kind, terminal, thread)
	}
	if there != v && there.Form == trace.Int {
		meant := trace.ValueOf(kind, there.Int)
		return &meant
	}
	return there
}

// Limits of reading streams: values of one, and threads of the trace.
const (
	maxStream  = 1 << 16
	maxStreams = 64
)

// Prefixes of values that differ in each call, or on each rank.
const (
	varying       = "varies"
	differsByRank = "differs by rank"
)

// stream describes a value that varies from call to call.
func (w *writer) stream(v *trace.Value, kind string, terminal int32, thread int) string {
	if trace.IsHandle(kind) {
		return varying
	}
	return varying + w.spreadOf(v, kind, terminal, thread).text()
}

// spreadOf returns the spread of a stream's values on a thread; empty if it is not read.
func (w *writer) spreadOf(v *trace.Value, kind string, terminal int32, thread int) *spread {
	if v.Form == trace.ListStream || kind == "double" || thread < 0 {
		return &spread{}
	}
	t := w.trace.Threads().At(thread)
	ref, there := t.Stream(terminal, int32(v.Int))
	if !there || w.trace.Threads().Len() > maxStreams {
		return &spread{}
	}
	number := int(ref.Sequence)
	of, known := w.streams[number]
	if !known {
		if w.streams == nil {
			w.streams = map[int]*spread{}
		}
		of = &spread{}
		if n, err := w.trace.SequenceLength(number); err == nil && n <= maxStream {
			values, _ := w.trace.Sequence(number) // an unreadable sequence is unknown
			for _, x := range values {
				of.add(x)
			}
		}
		w.streams[number] = of
	}
	return of
}

// list describes the elements of an array, consecutive handles as "request#0-7".
func (w *writer) list(values []trace.Value, kind string, terminal int32, thread int) string {
	values = slices.Clone(values)
	for i := range values {
		values[i] = *w.resolved(&values[i], kind, terminal, thread)
	}
	few := 12
	if w.options.Exact {
		few = len(values)
	}
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
