package main

import (
	"fmt"
	"strings"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

func wrappers(functions []*mpi.Function) string {
	var b strings.Builder
	b.WriteString("// " + generated + "#include \"../wrapper/wrapper.h\"\n")
	for _, f := range functions {
		if !handwritten[f.Name] {
			b.WriteString("\n" + wrapper(f))
		}
	}
	return b.String()
}

// wrapper returns the C function that records a call of f. Its own variables end in an underscore,
// unlike all parameters in the standard. Where calls of f may repeat an earlier one there are two:
// what is no expected repeat is passed on to the other.
func wrapper(f *mpi.Function) string {
	w := wrapperWriter{f: f}
	if !mayRepeat(f) {
		fmt.Fprintf(&w.text, "%s\n{\n", prototype(f, "cairn_"+f.Name))
		w.line("uint64_t caller_ = CAIRN_CALLER;")
		w.line("CAIRN_SEES_UNWINDING;")
		w.line("const void *const frame_ = CAIRN_FRAME;")
		w.anyCall()
		return w.text.String()
	}
	declaration := prototype(f, "other_"+f.Name)
	declaration = strings.Replace(declaration, "(", "(uint64_t caller_, const void *frame_, ", 1)
	fmt.Fprintf(&w.text, "static OTHER %s\n{\n", declaration)
	w.anyCall()
	fmt.Fprintf(&w.text, "\n%s\n{\n", prototype(f, "cairn_"+f.Name))
	w.expectedCall()
	return w.text.String()
}

// anyCall writes the body that records any call.
func (w *wrapperWriter) anyCall() {
	f := w.f
	w.line("__typeof__(&cairn_%s) real_ = CAIRN_REAL(%s);", f.Name, f.Name)
	if startsTracing(f) {
		w.line("cairn_start();")
	}
	w.passOnLibraryCalls()
	w.beforeRecord()
	w.line("struct cairn_record record_;")
	w.declarations()
	w.inputs()
	w.call()
	w.outputs(false)
	w.afterRecord()
	w.text.WriteString("}\n")
}

// expectedCall writes the body that records a call that repeats the one that followed last time.
func (w *wrapperWriter) expectedCall() {
	f := w.f
	w.line("CAIRN_SEES_UNWINDING;")
	w.line("const bool announced_ = CAIRN_UNLIKELY(cairn_is_announced(%d));", f.ID)
	w.ignoreStatus("announced_")
	w.line("struct cairn_record record_;")
	w.declarations()
	w.line("const uint64_t *in_ = cairn_expected(&record_, %d, %s, announced_ ? cairn_self.announcement.caller : CAIRN_CALLER, CAIRN_FRAME);", f.ID, size(f))
	w.line("if (CAIRN_UNLIKELY(in_ == NULL))\n\t\t%s", w.other())
	same := "true"
	for i := range f.Params {
		if p := &f.Params[i]; p.Direction.IsIn() {
			same += " && " + sameIn(p)
		}
	}
	w.line("if (CAIRN_UNLIKELY(!(%s))) {", strings.TrimPrefix(same, "true && "))
	w.line("\tcairn_idle(&cairn_self);\n\t\t%s\n\t}", w.other())
	w.line("__typeof__(&cairn_%s) real_ = CAIRN_REAL(%s);", f.Name, f.Name)
	w.line("if (CAIRN_UNLIKELY(announced_))\n\t\treal_ = (__typeof__(real_))cairn_take_announcement(%d, CAIRN_CALLER, (void *)real_);", f.ID)
	w.beforeRecord()
	w.statuses("true")
	epoch := "cairn_epoch_now()"
	if epochBefore(f) {
		epoch = "cairn_epoch_next()"
	}
	w.line("uint64_t *word_ = cairn_repeat(&record_, %s);", epoch)
	w.call()
	w.outputs(true)
	w.afterRecord()
	w.text.WriteString("}\n")
}

// other returns the statement that passes the call on to the body for any call.
func (w *wrapperWriter) other() string {
	call := fmt.Sprintf("other_%s(CAIRN_CALLER, CAIRN_FRAME, %s)", w.f.Name, names(w.f))
	if w.f.ReturnType == "void" {
		return "{ " + call + "; CAIRN_STAYS; return; }"
	}
	return "{ " + w.f.ReturnType + " result_ = " + call + "; CAIRN_STAYS; return result_; }"
}

// mayRepeat reports whether a call of f can be compared with an earlier one without writing its
// inputs: they are words and lists of words.
func mayRepeat(f *mpi.Function) bool {
	if startsTracing(f) || newComm(f) != "" || needsRoot(f) || len(f.Params) == 0 {
		return false
	}
	switch semantics.Of(f).Operation {
	case semantics.Finalize, semantics.SessionFree:
		return false
	}
	for i := range f.Params {
		p := &f.Params[i]
		if !p.Direction.IsIn() {
			continue
		}
		switch p.Kind {
		case mpi.KindStatus, mpi.KindString, mpi.KindStrings, mpi.KindArgv, mpi.KindArgumentLists, mpi.KindF08Status:
			return false
		}
	}
	return true
}

// sameIn returns the expression for whether a parameter's input is that of the expected record.
func sameIn(p *mpi.Param) string {
	if isList(p) {
		return fmt.Sprintf("CAIRN_SAME_LIST(in_, length_%s_, %s)", p.Name, flat(p))
	}
	put := putIn(p)
	return "*in_++ == " + strings.TrimSuffix(strings.TrimPrefix(put, "*word_++ = "), ";")
}

// A wrapperWriter writes the body of a wrapper, part by part in the order of wrapper.
type wrapperWriter struct {
	f    *mpi.Function
	text strings.Builder
}

// line writes one or more lines of the function's body.
func (w *wrapperWriter) line(format string, args ...any) {
	fmt.Fprintf(&w.text, "\t"+format+"\n", args...)
}

// outStatuses returns the parameters in which the call returns statuses.
func (w *wrapperWriter) outStatuses() (list []*mpi.Param) {
	for i := range w.f.Params {
		if p := &w.f.Params[i]; p.Kind == mpi.KindStatus && p.Direction == mpi.Out {
			list = append(list, p)
		}
	}
	return list
}

// passOnLibraryCalls writes the code that lets calls by the MPI library itself pass without a
// record: for example, ROMIO calls MPI_Type_free_keyval in MPI_Finalize, which is not a call of the
// program. A call by the Fortran layer is recorded once, as the program's.
func (w *wrapperWriter) passOnLibraryCalls() {
	leave := fmt.Sprintf("real_(%s)", names(w.f))
	if w.f.ReturnType != "void" {
		leave = "return " + leave
	} else {
		leave = "{ " + leave + "; return; }"
	}
	w.line("if (CAIRN_UNLIKELY(cairn_may_not_be_programs(caller_)) && !cairn_is_programs(%d, &caller_, &real_))\n\t\t%s;", w.f.ID, leave)
	w.ignoreStatus("(caller_ & CAIRN_FORTRAN) != 0")
}

// ignoreStatus writes the code that ignores a status if a Fortran program does.
func (w *wrapperWriter) ignoreStatus(fortran string) {
	i := ignorableStatus(w.f)
	if i < 0 {
		return
	}
	ignore := "MPI_STATUS_IGNORE"
	if w.f.Params[i].IsArray() {
		ignore = "MPI_STATUSES_IGNORE"
	}
	w.line("if (CAIRN_UNLIKELY(%s) && cairn_fortran_ignores_status())\n\t\t%s = %s;", fortran, w.f.Params[i].Name, ignore)
}

// beforeRecord writes what happens before the record is opened. The reference log has the call
// before the record is opened, and the return after it is committed, so that its order agrees with
// the order of epochs in the records.
func (w *wrapperWriter) beforeRecord() {
	w.line("CAIRN_REFERENCE_CALL(call_%s(%s));", w.f.Name, names(w.f))
	switch semantics.Of(w.f).Operation {
	case semantics.Finalize:
		w.line("CAIRN_FINALIZES();")
	case semantics.SessionFree:
		w.line("if (session != NULL)\n\t\tcairn_forget_session(*session);")
	}
}

// declarations writes the variables that the record needs: lengths of lists, and statuses if the
// application ignores them.
func (w *wrapperWriter) declarations() {
	if needsRoot(w.f) {
		w.line("const bool root_ = %s;", rootOf(w.f))
	}
	for i := range w.f.Params {
		p := &w.f.Params[i]
		if isList(p) {
			w.line("const int64_t length_%s_ = %s;", p.Name, entryLength(w.f, p))
		}
		switch {
		case p.Kind == mpi.KindArgv:
			w.line("const uint64_t argv_bytes_ = cairn_strings_bytes(%s != NULL ? *%s : NULL, length_%s_);", p.Name, p.Name, p.Name)
		case p.Kind == mpi.KindStatus && p.Direction == mpi.Out && p.IsArray():
			w.line("const bool ignored_%s_ = CAIRN_IS(%s, MPI_STATUSES_IGNORE);", p.Name, p.Name)
			w.line("MPI_Status few_%s_[CAIRN_FEW], *seen_%s_ = %s, *own_%s_ = NULL;", p.Name, p.Name, p.Name, p.Name)
		case p.Kind == mpi.KindStatus && p.Direction == mpi.Out:
			w.line("MPI_Status own_%s_;", p.Name)
			w.line("const bool ignored_%s_ = %s == MPI_STATUS_IGNORE;", p.Name, p.Name)
			w.line("MPI_Status *seen_%s_ = %s;", p.Name, p.Name)
			w.line("if (ignored_%s_)\n\t\tseen_%s_ = cairn_clear_status(&own_%s_);", p.Name, p.Name, p.Name)
		}
	}
}

// inputs opens the record and writes its input section.
func (w *wrapperWriter) inputs() {
	w.line("uint64_t *word_ = cairn_open(&record_, %d, %s, caller_, frame_);", w.f.ID, size(w.f))
	w.statuses("word_ != NULL")
	w.line("if (CAIRN_LIKELY(word_ != NULL)) {")
	for i := range w.f.Params {
		if p := &w.f.Params[i]; p.Direction.IsIn() {
			w.line("\t%s", putIn(p))
		}
	}
	if epochBefore(w.f) {
		w.line("\tcairn_epoch_before(&record_);")
	}
	w.line("\tword_ = cairn_enter(&record_, word_);")
	w.line("}")
}

// statuses prepares the statuses that MPI is passed, if the call is recorded.
func (w *wrapperWriter) statuses(recorded string) {
	for _, p := range w.outStatuses() {
		if p.IsArray() {
			w.line("if (%s)\n\t\town_%s_ = cairn_own_statuses(&record_, few_%s_, length_%s_);", recorded, p.Name, p.Name, p.Name)
			w.line("if (%s && ignored_%s_)\n\t\tseen_%s_ = own_%s_;", recorded, p.Name, p.Name, p.Name)
		}
		w.line("if (%s && !ignored_%s_)\n\t\tcairn_mark_statuses(%s, %s);", recorded, p.Name, p.Name, savedStatuses(p))
	}
}

// call writes the call of the real function.
func (w *wrapperWriter) call() {
	if w.f.MayMark() {
		w.line("bool counts_;")
	}
	if w.f.ReturnType == "void" {
		w.line("%s;", arguments(w.f, "real_"))
	} else {
		w.line("%s result_ = %s;", w.f.ReturnType, arguments(w.f, "real_"))
	}
}

// outputs writes the record's output section and commits it. repeat: the call was expected.
func (w *wrapperWriter) outputs(repeat bool) {
	f := w.f
	w.line("if (CAIRN_LIKELY(word_ != NULL) && (word_ = cairn_exit(&record_, word_, %s)) != NULL) {", resultWord(f))
	if repeat {
		w.line("\tconst uint64_t *const outputs_ = word_;")
	}
	if hasOut(f) {
		if f.Return == mpi.KindErrorCode {
			w.line("\tconst bool defined_ = cairn_outputs_defined(result_);")
		} else {
			w.line("\tconst bool defined_ = true;")
		}
	}
	for _, p := range w.outStatuses() {
		w.line("\tif (!ignored_%s_)\n\t\t\tcairn_settle_statuses(%s, %s);", p.Name, p.Name, savedStatuses(p))
	}
	for i := range f.Params {
		if p := &f.Params[i]; p.Direction.IsOut() {
			w.line("\t%s", putOut(f, p))
		}
	}
	if epochAfter(f) {
		w.line("\tcairn_epoch_after(&record_);")
	}
	if x := extras(f); x != "" {
		w.line("\t%s", x)
	}
	if f.MayMark() {
		w.line("\tcounts_ = %s;", counts(f))
		w.line("\trecord_.flags |= counts_ ? CAIRN_MARKER : 0;")
	}
	if repeat {
		w.line("\tcairn_commit_repeat(&record_, outputs_, word_, %v);", epochAfter(f))
	} else {
		w.line("\tcairn_commit(&record_, word_);")
	}
	if f.MayMark() {
		w.line("} else {\n\t\tcounts_ = %s;", counts(f))
	}
	w.line("}")
}

// afterRecord writes what happens from the end of the record to the return.
func (w *wrapperWriter) afterRecord() {
	w.line("CAIRN_REFERENCE_RETURN(%s);", referenceReturn(w.f))
	for _, p := range w.outStatuses() {
		w.line("if (!ignored_%s_ && word_ != NULL)\n\t\tcairn_restore_statuses(%s, %s);", p.Name, p.Name, savedStatuses(p))
		if p.IsArray() {
			w.line("if (CAIRN_UNLIKELY(word_ != NULL && record_.held))\n\t\tcairn_idle(&cairn_self);")
		}
	}
	if w.f.MayMark() {
		w.line("if (CAIRN_UNLIKELY(counts_))\n\t\tcairn_collective_marker();")
	}
	if semantics.Of(w.f).Operation == semantics.Initialize {
		w.line("CAIRN_INITIALIZED(result_);")
	}
	if w.f.ReturnType != "void" {
		w.line("return result_;")
	}
}

// resultWord returns the expression for the function's result as a word of the record.
func resultWord(f *mpi.Function) string {
	switch {
	case f.Return == mpi.KindDouble:
		return "cairn_double(result_)"
	case f.ReturnType != "void":
		return "CAIRN_WORD(result_)"
	}
	return "(uint64_t)0"
}

// startsTracing reports whether f initializes MPI.
func startsTracing(f *mpi.Function) bool {
	op := semantics.Of(f).Operation
	return op == semantics.Initialize || op == semantics.SessionCreate
}

// counts returns the C expression for whether a call is a marker for clustering.
func counts(f *mpi.Function) string {
	if f.IsBlockingCollective() {
		return "CAIRN_COMM_COUNTS(comm, result_)"
	}
	return "CAIRN_WIN_COUNTS(win, assert, result_)"
}

func hasOut(f *mpi.Function) bool {
	for i := range f.Params {
		if f.Params[i].Direction.IsOut() && f.Params[i].Kind != mpi.KindBuffer {
			return true
		}
	}
	return newComm(f) != ""
}

// size returns the expression for the maximal number of bytes of the record.
func size(f *mpi.Function) string {
	words := 0
	var dynamic []string
	for i := range f.Params {
		p := &f.Params[i]
		count := 0
		if p.Direction.IsIn() {
			count++
		}
		if p.Direction.IsOut() {
			count++
		}
		n := "length_" + p.Name + "_"
		switch {
		case p.Kind == mpi.KindStatus && p.IsArray():
			dynamic = append(dynamic, fmt.Sprintf("cairn_statuses_bytes(%s)", n))
		case p.Kind == mpi.KindStatus:
			words += 4 * count
		case p.Kind == mpi.KindString:
			dynamic = append(dynamic, fmt.Sprintf("cairn_string_bytes(%s)", n))
		case p.Kind == mpi.KindStrings:
			dynamic = append(dynamic, fmt.Sprintf("cairn_strings_bytes(%s, %s)", p.Name, n))
		case p.Kind == mpi.KindArgv:
			// MPI_Init may remove arguments, but never adds any.
			dynamic = append(dynamic, "2 * argv_bytes_")
		case p.Kind == mpi.KindArgumentLists:
			dynamic = append(dynamic, fmt.Sprintf("cairn_argument_lists_bytes(%s, %s)", p.Name, n))
		case isList(p):
			for range count {
				dynamic = append(dynamic, fmt.Sprintf("cairn_list_bytes(%s)", n))
			}
		default:
			words += count
		}
	}
	if bound := descriptionBound(f); bound != "" {
		dynamic = append(dynamic, bound)
	}
	e := fmt.Sprintf("CAIRN_HEADER + %d", 8*words)
	for _, d := range dynamic {
		e += " + " + d
	}
	return e
}

// savedStatuses returns the arguments for the application's statuses before the call and their
// number.
func savedStatuses(p *mpi.Param) string {
	if p.IsArray() {
		return fmt.Sprintf("own_%s_, length_%s_", p.Name, p.Name)
	}
	return fmt.Sprintf("&own_%s_, 1", p.Name)
}

func ignored(p *mpi.Param) string {
	if p.Direction == mpi.Out {
		return "ignored_" + p.Name + "_"
	}
	return "false"
}

// putIn returns the statement that writes a parameter into the input section.
func putIn(p *mpi.Param) string {
	n := "length_" + p.Name + "_"
	switch {
	case p.Kind == mpi.KindStatus && !p.IsArray():
		return fmt.Sprintf("word_ = cairn_put_status(word_, false, %s, false);", p.Name)
	case p.Kind == mpi.KindStatus:
		return fmt.Sprintf("word_ = cairn_put_statuses(word_, false, %s, %s, false);", n, p.Name)
	case p.Kind == mpi.KindString:
		return fmt.Sprintf("word_ = cairn_put_string(word_, %s, %s);", n, p.Name)
	case p.Kind == mpi.KindStrings:
		return fmt.Sprintf("word_ = cairn_put_strings(word_, %s, (char *const *)%s);", n, p.Name)
	case p.Kind == mpi.KindArgv:
		return fmt.Sprintf("word_ = cairn_put_strings(word_, %s, %s ? *%s : NULL);", n, p.Name, p.Name)
	case p.Kind == mpi.KindArgumentLists:
		return fmt.Sprintf("word_ = cairn_put_argument_lists(word_, %s, (char **const *)%s);", n, p.Name)
	case p.Kind == mpi.KindF08Status:
		return fmt.Sprintf("CAIRN_PUT_LIST(word_, %s, (const int *)%s);", n, p.Name)
	case isList(p):
		return fmt.Sprintf("CAIRN_PUT_LIST(word_, %s, %s);", n, flat(p))
	case p.Kind == mpi.KindDouble:
		return fmt.Sprintf("*word_++ = cairn_double(%s);", p.Name)
	case p.Kind == mpi.KindBuffer, p.Kind == mpi.KindPointer && p.Direction == mpi.In:
		return fmt.Sprintf("*word_++ = cairn_pointer(CAIRN_WORD(%s));", p.Name)
	case p.Kind == mpi.KindFunction:
		return fmt.Sprintf("*word_++ = cairn_function(CAIRN_WORD(%s));", p.Name)
	case p.IsPointer():
		return fmt.Sprintf("*word_++ = CAIRN_WORD_AT(%s);", p.Name)
	}
	return fmt.Sprintf("*word_++ = CAIRN_WORD(%s);", p.Name)
}

// flat returns the array as a one-dimensional one.
func flat(p *mpi.Param) string {
	if p.Inner > 0 {
		return fmt.Sprintf("(const %s *)%s", p.CType, p.Name)
	}
	return p.Name
}

// putOut returns the statement that writes a parameter into the output section.
func putOut(f *mpi.Function, p *mpi.Param) string {
	defined := "defined_"
	if p.OnlyIf > 0 {
		flag := f.Params[p.OnlyIf-1].Name
		defined = fmt.Sprintf("(defined_ && %s && *%s)", flag, flag)
	}
	n := "length_" + p.Name + "_"
	withError := "cairn_errors_defined(result_)"
	if f.Name == "MPI_Status_set_error" {
		withError = "true"
	}
	switch {
	case p.Kind == mpi.KindBuffer:
		// An address is defined even if the call failed.
		return fmt.Sprintf("*word_++ = cairn_pointer(CAIRN_WORD(%s));", p.Name)
	case p.Effect == mpi.EffectCompleted && isList(p):
		// A call that failed may still have completed requests.
		return fmt.Sprintf("CAIRN_PUT_LIST(word_, %s, %s);", definedLength(f, p), p.Name)
	case p.Effect == mpi.EffectCompleted:
		return fmt.Sprintf("*word_++ = CAIRN_WORD_AT(%s);", p.Name)
	case p.Kind == mpi.KindStatus && !p.IsArray():
		s, i := p.Name, "false"
		if p.Direction == mpi.Out {
			s, i = "seen_"+p.Name+"_", ignored(p)
		}
		return fmt.Sprintf("word_ = cairn_put_status(word_, %s, %s ? %s : NULL, %s);", i, defined, s, withError)
	case p.Kind == mpi.KindStatus:
		return fmt.Sprintf("word_ = cairn_put_statuses(word_, %s, %s ? %s : CAIRN_NULL, seen_%s_, %s);", ignored(p), defined, definedStatuses(f, p), p.Name, withError)
	case p.Kind == mpi.KindString:
		return fmt.Sprintf("word_ = cairn_put_string_within(word_, %s ? %s : CAIRN_NULL, %s);", defined, n, p.Name)
	case p.Kind == mpi.KindArgv:
		return fmt.Sprintf("word_ = cairn_put_argv(word_, %s ? %s : CAIRN_NULL, %s, argv_bytes_);", defined, n, p.Name)
	case p.Kind == mpi.KindF08Status:
		return fmt.Sprintf("CAIRN_PUT_LIST(word_, %s ? %s : CAIRN_NULL, (const int *)%s);", defined, n, p.Name)
	case isList(p):
		return fmt.Sprintf("CAIRN_PUT_LIST(word_, %s ? %s : CAIRN_NULL, %s);", defined, definedLength(f, p), flat(p))
	case p.Kind == mpi.KindPointer:
		return fmt.Sprintf("*word_++ = %s ? cairn_pointer(CAIRN_WORD_AT((void *const *)%s)) : 0;", defined, p.Name)
	case p.Kind == mpi.KindDouble:
		return fmt.Sprintf("*word_++ = %s && %s ? cairn_double(*%s) : 0;", defined, p.Name, p.Name)
	}
	return fmt.Sprintf("*word_++ = %s ? CAIRN_WORD_AT(%s) : 0;", defined, p.Name)
}

// definedStatuses returns the number of statuses after the call. The capacity may be CAIRN_SENTINEL
// if statuses are ignored (MPICH's MPI_STATUSES_IGNORE is no null pointer); the statuses are then
// in the record.
func definedStatuses(f *mpi.Function, p *mpi.Param) string { return definedLength(f, p) }

// epochBefore reports whether calls take their epoch before they are made. These calls free a
// handle, which another thread may get before they return.
func epochBefore(f *mpi.Function) bool {
	return !epochAfter(f) && hasEffect(f, mpi.EffectFreed, mpi.EffectCompleted, mpi.EffectConsumed)
}

// epochAfter reports whether calls take their epoch after they are made. These calls return a
// handle, which another thread may have freed just before. MPI_Imrecv does both: another thread may
// get the handle of its message before it returns, and may have freed the handle of its request
// just before. Requests with one handle are queued, but messages with one handle cannot be
// distinguished, so the message decides.
func epochAfter(f *mpi.Function) bool {
	return hasEffect(f, mpi.EffectNew, mpi.EffectStarted) && !hasEffect(f, mpi.EffectConsumed)
}

func hasEffect(f *mpi.Function, effects ...mpi.Effect) bool {
	for i := range f.Params {
		for _, e := range effects {
			if f.Params[i].Effect == e {
				return true
			}
		}
	}
	return false
}

// newComm returns the name of the parameter in which the call returns a communicator that is usable
// at once.
func newComm(f *mpi.Function) string {
	name := ""
	for i := range f.Params {
		p := &f.Params[i]
		switch {
		case p.Kind == mpi.KindComm && p.Direction == mpi.Out && !p.IsArray():
			name = p.Name
		case p.Kind == mpi.KindRequest && p.Effect == mpi.EffectNew:
			return ""
		}
	}
	return name
}

// extras returns the statement that appends information that can only be queried from MPI at this
// time.
func extras(f *mpi.Function) string {
	switch semantics.Of(f).Operation {
	case semantics.Initialize:
		return "if (defined_)\n\t\t\tword_ = cairn_describe_world(&record_, word_);"
	case semantics.SessionCreate:
		return "if (defined_ && session)\n\t\t\tword_ = cairn_describe_session(&record_, word_, *session);"
	}
	if c := newComm(f); c != "" {
		return fmt.Sprintf("if (defined_ && %s)\n\t\t\tword_ = cairn_describe(&record_, word_, *%s);", c, c)
	}
	return ""
}

// descriptionBound returns the expression for the number of bytes to reserve for the extras.
func descriptionBound(f *mpi.Function) string {
	switch semantics.Of(f).Operation {
	case semantics.Initialize:
		return "CAIRN_WORLD_BYTES"
	case semantics.SessionCreate:
		return "CAIRN_SESSION_BYTES"
	}
	if newComm(f) == "" {
		return ""
	}
	var e []string
	for i := range f.Params {
		if p := &f.Params[i]; p.Kind == mpi.KindComm && p.Direction == mpi.In {
			e = append(e, fmt.Sprintf("cairn_ask_processes(%s)", p.Name))
		}
	}
	e = append(e, "0")
	return fmt.Sprintf("cairn_description_bytes(%s)", strings.Join(e, " + "))
}

// names returns the parameters as the application passed them.
func names(f *mpi.Function) string {
	var list []string
	for i := range f.Params {
		list = append(list, f.Params[i].Name)
	}
	return strings.Join(list, ", ")
}

func arguments(f *mpi.Function, callee string) string {
	var args []string
	for i := range f.Params {
		p := &f.Params[i]
		if p.Kind == mpi.KindStatus && p.Direction == mpi.Out {
			args = append(args, "seen_"+p.Name+"_")
		} else {
			args = append(args, p.Name)
		}
	}
	return callee + "(" + strings.Join(args, ", ") + ")"
}
