package recordtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cairn-mpi/cairn/trace"
)

// Lines returns all calls of a thread, decoded by code that is independent of the recorder's.
func Lines(t testing.TB, c *trace.Content, thread int) []string {
	t.Helper()
	th := c.Threads.At(thread)
	w := lineWriter{t: t, content: c, functions: map[uint16]*trace.Function{}, streams: map[[2]int32][]int64{}}
	for i := range c.Functions {
		w.functions[c.Functions[i].ID] = &c.Functions[i]
	}
	for _, s := range th.Streams {
		values, err := c.Sequences[s.Sequence].All()
		if err != nil {
			t.Fatal(err)
		}
		w.streams[[2]int32{s.Terminal, s.Number}] = values
	}
	w.expand(th.Root)
	for key, rest := range w.streams {
		if len(rest) > 0 {
			t.Errorf("stream %d of terminal %d has %d values too many", key[1], key[0], len(rest))
		}
	}
	if uint64(len(w.lines)) != th.Calls {
		t.Errorf("thread %d has %d calls, says %d", thread, len(w.lines), th.Calls)
	}
	return w.lines
}

// A lineWriter writes the calls of a thread.
type lineWriter struct {
	t         testing.TB
	content   *trace.Content
	functions map[uint16]*trace.Function
	streams   map[[2]int32][]int64 // their remaining values, by terminal and number
	lines     []string
}

// expand writes the calls of a rule of the grammar.
func (w *lineWriter) expand(rule int) {
	for _, sym := range w.content.Grammar.Rules[rule] {
		for range sym.Count {
			if sym.IsRule() {
				w.expand(sym.Rule())
			} else {
				w.lines = append(w.lines, w.call(sym.Value))
			}
		}
	}
}

func (w *lineWriter) call(terminal int32) string {
	s := &w.content.Signatures[terminal]
	var b strings.Builder
	b.WriteString(strings.TrimPrefix(w.functions[s.Function].Name, "MPI_"))
	for _, p := range []struct {
		name string
		v    []trace.Value
	}{{"(", s.In}, {" -> ", s.Out}} {
		b.WriteString(p.name)
		for i, v := range p.v {
			if i > 0 {
				b.WriteByte(' ')
			}
			w.value(&b, terminal, v)
		}
	}
	b.WriteString(")")
	if s.Return.Form != trace.Int || s.Return.Int != 0 {
		b.WriteString("=")
		w.value(&b, terminal, s.Return)
	}
	if s.Communicator.Form == trace.Stream {
		b.WriteString(" comm " + w.content.Communicators[w.pull(terminal, s.Communicator.Int)].GlobalName)
	}
	return b.String()
}

// pull takes the next value of a stream.
func (w *lineWriter) pull(terminal int32, number int64) int64 {
	key := [2]int32{terminal, int32(number)}
	if len(w.streams[key]) == 0 {
		w.t.Fatalf("stream %d of terminal %d is too short", number, terminal)
	}
	v := w.streams[key][0]
	w.streams[key] = w.streams[key][1:]
	return v
}

func (w *lineWriter) value(b *strings.Builder, terminal int32, v trace.Value) {
	switch v.Form {
	case trace.Absent:
		b.WriteByte('-')
	case trace.Null:
		b.WriteString("NULL")
	case trace.Pointer:
		b.WriteString("ptr")
	case trace.Int:
		fmt.Fprint(b, v.Int)
	case trace.Name:
		b.WriteString(strings.TrimPrefix(v.Text, "MPI_"))
	case trace.Text:
		fmt.Fprintf(b, "%q", v.Text)
	case trace.Handle:
		fmt.Fprintf(b, "#%d", v.Int)
	case trace.List, trace.Status:
		b.WriteByte('[')
		for i, v := range v.List {
			if i > 0 {
				b.WriteByte(' ')
			}
			w.value(b, terminal, v)
		}
		b.WriteByte(']')
	case trace.Stream:
		fmt.Fprintf(b, "~%d", w.pull(terminal, v.Int))
	case trace.ListStream:
		b.WriteString("~(")
		n := w.pull(terminal, v.Int)
		for i := range n {
			if i > 0 {
				b.WriteByte(' ')
			}
			fmt.Fprint(b, w.pull(terminal, v.Int))
		}
		b.WriteByte(')')
	default:
		w.t.Fatalf("form %d", v.Form)
	}
}
