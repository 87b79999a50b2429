package main

import (
	"fmt"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/reexecution"
	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// A writer writes the C function that replays calls of one function. Its own identifiers end in an
// underscore, which no parameter of the standard does.
type writer struct {
	f *mpi.Function
	s *semantics.Function
	b strings.Builder
}

func (w *writer) line(format string, args ...any) { fmt.Fprintf(&w.b, "\t"+format+"\n", args...) }

// function returns that C function: it reads the arguments in the order of the parameters,
// allocates buffers, waits for as long as the program computed, makes the call, and stores the
// handles that it returns.
func function(f *mpi.Function) string {
	w := writer{f: f, s: semantics.Of(f)}
	fmt.Fprintf(&w.b, "void cr_issue_%s(struct call *c_)\n{\n", f.Name)
	for i := range f.Params {
		w.read(&f.Params[i])
	}
	for i := range f.Params {
		if f.Params[i].Kind == mpi.KindBuffer {
			w.allocate(i)
		}
	}
	w.prepare()
	w.line("cr_enter(c_);")
	var names []string
	for i := range f.Params {
		names = append(names, w.argument(&f.Params[i]))
	}
	call := fmt.Sprintf("%s(%s)", f.Name, strings.Join(names, ", "))
	if w.s.Polls { // it succeeded when it was recorded
		found := w.named(semantics.Flag)
		if found == "" {
			found = w.named(semantics.OutCount)
		}
		w.line("int result_;\n\tdo\n\t\tresult_ = %s;\n\twhile (result_ == MPI_SUCCESS && !%s);", call, found)
	} else {
		w.line("int result_ = %s;", call)
	}
	w.line("cr_left(c_, result_);")
	for i := range f.Params {
		w.keep(&f.Params[i])
	}
	w.finish()
	w.b.WriteString("}\n")
	return w.b.String()
}

// named returns the name of the parameter that has a role.
func (w *writer) named(r semantics.Role) string {
	for i, role := range w.s.Roles {
		if role == r {
			return w.f.Params[i].Name
		}
	}
	return ""
}

// first returns the name of the first parameter of a kind.
func (w *writer) first(k mpi.Kind) string {
	for i := range w.f.Params {
		if w.f.Params[i].Kind == k {
			return w.f.Params[i].Name
		}
	}
	return ""
}

// read declares a parameter's variables and reads them from the stream.
func (w *writer) read(p *mpi.Param) {
	n := p.Name
	switch {
	case p.Kind == mpi.KindArgc || p.Kind == mpi.KindArgv:
	case p.Kind == mpi.KindBuffer:
		w.line("const struct value value_%s_ = cr_value(c_);", n)
	case p.Kind == mpi.KindPointer && p.Direction == mpi.In:
		w.line("(void)cr_value(c_);")
	case p.Kind == mpi.KindPointer:
		w.line("void *%s = NULL;", n)
	case p.Kind == mpi.KindFunction:
		w.line("%s *%s = CR_FUNCTION(c_, %s);", p.CType, n, p.CType)
	case p.Kind == mpi.KindString && p.Direction == mpi.In:
		w.line("const char *%s = cr_text(c_);", n)
	case p.Kind == mpi.KindString:
		w.line("char *%s = cr_room(c_, 1);", n)
	case p.Kind == mpi.KindStatus && p.IsArray():
		w.line("MPI_Status *%s = cr_room(c_, sizeof(*%s));", n, n)
	case p.Kind == mpi.KindStatus && p.Direction == mpi.In:
		w.line("MPI_Status at_%s_ = cr_status(c_), *%s = &at_%s_;", n, n, n)
	case p.Kind == mpi.KindStatus:
		w.line("MPI_Status at_%s_, *%s = &at_%s_;", n, n, n)
	case p.Kind.IsHandle():
		w.readHandle(p)
	case p.IsArray() && p.Direction == mpi.In:
		w.line("const int64_t n_%s_ = cr_list(c_);", n)
		w.line("%s *%s = CR_NUMBERS(c_, n_%s_, %s);", p.CType, n, n, p.CType)
	case p.IsArray() && p.Direction == mpi.InOut:
		w.line("const int64_t n_%s_ = cr_list(c_);", n)
		w.line("%s *%s = CR_NUMBERS(c_, n_%s_, %s);", p.CType, n, n, p.CType)
	case p.IsArray():
		w.line("%s *%s = cr_room(c_, sizeof(*%s));", p.CType, n, n)
	case p.Direction == mpi.Out:
		w.line("%s %s = 0;", p.CType, n)
	default:
		w.line("%s %s = CR_NUMBER(c_, %s);", p.CType, n, p.CType)
	}
}

func (w *writer) readHandle(p *mpi.Param) {
	n, k := p.Name, p.Kind
	switch {
	case p.IsArray() && p.Direction != mpi.Out:
		w.line("const int64_t n_%s_ = cr_list(c_);", n)
		w.line("int64_t *ids_%s_;", n)
		w.line("%s *%s = cr_%ss(c_, n_%s_, &ids_%s_);", p.CType, n, k, n, n)
	case p.IsArray():
		w.line("int64_t n_%s_, *ids_%s_ = cr_news(c_, &n_%s_);", n, n, n)
		w.line("%s *%s = cr_room(c_, sizeof(*%s));", p.CType, n, n)
	case p.Direction == mpi.Out:
		w.line("const int64_t id_%s_ = cr_new(c_);", n)
		w.line("%s %s = CR_NULL_%s;", p.CType, n, k)
	default:
		w.line("int64_t id_%s_;", n)
		w.line("%s %s = cr_%s(c_, &id_%s_);", p.CType, n, k, n)
	}
	if !keeps(p) && p.Direction != mpi.Out {
		if p.IsArray() {
			w.line("(void)ids_%s_;", n)
		} else {
			w.line("(void)id_%s_;", n)
		}
	}
}

// keeps reports whether the call changes the handles in a parameter.
func keeps(p *mpi.Param) bool {
	switch p.Effect {
	case mpi.EffectNew, mpi.EffectExisting, mpi.EffectFreed, mpi.EffectCompleted, mpi.EffectStarted, mpi.EffectConsumed:
		return p.Kind.IsHandle() && p.Direction.IsOut()
	default:
		return false
	}
}

// argument returns how C passes a parameter.
func (w *writer) argument(p *mpi.Param) string {
	switch {
	case p.Kind == mpi.KindArgc || p.Kind == mpi.KindArgv:
		return "NULL"
	case p.Kind == mpi.KindPointer && p.Direction == mpi.In:
		return "cr_state"
	case p.Kind == mpi.KindBuffer, p.Kind == mpi.KindFunction, p.Kind == mpi.KindString, p.Kind == mpi.KindStatus:
		return p.Name
	case p.IsArray() && p.Inner > 0:
		return fmt.Sprintf("(%s (*)[%d])%s", p.CType, p.Inner, p.Name)
	case p.IsArray():
		return p.Name
	case p.IsPointer():
		return "&" + p.Name
	}
	return p.Name
}

// keep stores, or releases, the handles in a parameter after the call.
func (w *writer) keep(p *mpi.Param) {
	if !keeps(p) {
		return
	}
	do := "update"
	switch p.Effect {
	case mpi.EffectNew:
		do = "keep"
	case mpi.EffectExisting:
		do = "know"
	case mpi.EffectFreed:
		do = "drop"
	default:
	}
	if p.IsArray() {
		w.line("for (int64_t i_ = 0; i_ < n_%s_; i_++)\n\t\tcr_%s_%s(c_, ids_%s_[i_], %s[i_]);", p.Name, do, p.Kind, p.Name, p.Name)
	} else {
		w.line("cr_%s_%s(c_, id_%s_, %s);", do, p.Kind, p.Name, p.Name)
	}
}

// prepare writes what precedes some calls.
func (w *writer) prepare() {
	switch w.s.Operation {
	case semantics.Finalize:
		w.line("cr_before_finalize(c_);")
	case semantics.WindowCreate:
		if size := w.first(mpi.KindAint); size != "" && w.named(semantics.Buffer) == "" {
			w.line("cr_count(c_, %s);", size)
		}
	case semantics.MemoryAlloc:
		w.line("cr_count(c_, %s);", w.first(mpi.KindAint))
	}
	if reexecution.NamesFile(w.s) {
		mode := w.first(mpi.KindAccessMode)
		if mode == "" {
			mode = "0"
		}
		w.line("cr_prepare_file(c_, %s, %s);", w.first(mpi.KindString), mode)
	}
}

// finish writes what follows some calls.
func (w *writer) finish() {
	switch w.s.Operation {
	case semantics.Initialize:
		w.line("cr_initialized(c_);")
	case semantics.MemoryAlloc:
		w.line("cr_allocated(c_, %s, %s);", w.first(mpi.KindPointer), w.first(mpi.KindAint))
	case semantics.SendBuffers:
		if p := w.first(mpi.KindPointer); p != "" {
			w.line("cr_give_back(c_, %s, %s);", p, w.first(mpi.KindBytes))
		}
	case semantics.WindowCreate:
		if size := w.first(mpi.KindAint); size != "" {
			base := w.first(mpi.KindBuffer)
			if base == "" {
				base = "NULL"
			}
			w.line("cr_window_made(c_, id_%s_, %s, %s);", w.first(mpi.KindWin), base, size)
		}
	case semantics.WindowFree:
		w.line("cr_window_freed(c_, id_%s_);", w.first(mpi.KindWin))
	}
}
