package skeleton

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
)

// variables are the handles of a kind. A trace numbers those that live at the same time, so a
// number is a variable.
type variables struct {
	array bool // numbers differ by rank or from call to call
	n     int64
	names map[int64]string
}

// declareHandles finds which handles exist, and names them.
func (w *writer) declareHandles() {
	w.handles = map[mpi.Kind]*variables{}
	makers := map[mpi.Kind]map[int64][]string{} // functions that create them
	for _, s := range w.steps {
		if s.function == nil {
			continue
		}
		s.eachArgument(func(p *mpi.Param, out bool, of func(*vector) *argument) {
			if !p.Kind.IsHandle() || p.Kind == mpi.KindInfo || p.Kind == mpi.KindErrhandler {
				return
			}
			v := w.handles[p.Kind]
			if v == nil {
				v = &variables{names: map[int64]string{}, array: p.Kind == mpi.KindRequest}
				w.handles[p.Kind] = v
				makers[p.Kind] = map[int64][]string{}
			}
			at := map[int]int64{}
			for i := range s.vectors {
				for k, x := range of(&s.vectors[i]).values {
					if x.name != "" {
						continue
					}
					v.n = max(v.n, x.number+1)
					if known, there := at[k]; there && known != x.number {
						v.array = true
					}
					at[k] = x.number
					if out && p.Effect == mpi.EffectNew && !slices.Contains(makers[p.Kind][x.number], s.function.Name) {
						makers[p.Kind][x.number] = append(makers[p.Kind][x.number], s.function.Name)
					}
				}
			}
		})
	}
	for kind, v := range w.handles {
		for id := range v.n {
			name := fmt.Sprintf("%s_%d", kindWords[kind], id)
			if made := makers[kind][id]; len(made) == 1 {
				name = maker(made[0], kindWords[kind])
			}
			if !v.array {
				v.names[id] = w.unique(name)
			}
		}
	}
}

// kindWords are the names of variables by kind.
var kindWords = map[mpi.Kind]string{
	mpi.KindComm: "comm", mpi.KindDatatype: "type", mpi.KindGroup: "group", mpi.KindWin: "win", mpi.KindFile: "file", mpi.KindOp: "op",
	mpi.KindRequest: "request", mpi.KindMessage: "message",
}

// maker names a variable after the function that creates it: MPI_Cart_create creates a cart_comm.
func maker(function, kind string) string {
	var words []string
	for _, word := range strings.Split(strings.ToLower(strings.TrimPrefix(function, "MPI_")), "_") {
		if word != "create" && word != kind && word != "commit" {
			words = append(words, word)
		}
	}
	return strings.Join(append(words, kind), "_")
}

// handle returns the variable of a handle, by its number in C.
func (w *writer) handle(kind mpi.Kind, number string) string {
	v := w.handles[kind]
	if v == nil {
		return w.anything(kind)
	}
	if id, err := strconv.ParseInt(number, 10, 64); err == nil && !v.array {
		return v.names[id]
	}
	return fmt.Sprintf("%ss[%s]", kindWords[kind], number)
}

// declarations returns those of all handles.
func (w *writer) declarations() string {
	var b strings.Builder
	for _, kind := range mpi.Kinds() {
		v := w.handles[kind]
		if v == nil || v.n == 0 {
			continue
		}
		if v.array {
			fmt.Fprintf(&b, "static %s %ss[%d];\n", kind.CType(), kindWords[kind], v.n)
			continue
		}
		var names []string
		for id := range v.n {
			names = append(names, v.names[id])
		}
		fmt.Fprintf(&b, "static %s %s;\n", kind.CType(), strings.Join(names, ", "))
	}
	return b.String()
}

// eachArgument visits the inputs and outputs of a call.
func (s *step) eachArgument(f func(p *mpi.Param, out bool, of func(*vector) *argument)) {
	in, out := 0, 0
	for i := range s.declared.Parameters {
		if i >= len(s.function.Params) {
			return
		}
		p := &s.function.Params[i]
		if s.declared.Parameters[i].Direction != trace.Out {
			f(p, false, nth(false, in))
			in++
		}
		if s.declared.Parameters[i].Direction != trace.In {
			f(p, true, nth(true, out))
			out++
		}
	}
}

func nth(out bool, k int) func(*vector) *argument {
	return func(v *vector) *argument {
		list := v.in
		if out {
			list = v.out
		}
		if k >= len(list) {
			return &argument{}
		}
		return &list[k]
	}
}

// identifier converts a name of a program, such as a Fortran or C++ function, to a C identifier.
func identifier(name string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' || r >= '0' && r <= '9' && b.Len() > 0:
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	text := strings.Trim(b.String(), "_")
	if text == "" {
		text = "unnamed"
	}
	if strings.HasPrefix(strings.ToUpper(text), "MPI") || strings.HasPrefix(strings.ToUpper(text), "PMPI") {
		text = "call_" + text
	}
	return text
}

// quoted returns a string literal in C.
func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(text) {
		switch {
		case c == '"' || c == '\\' || c == '?':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
