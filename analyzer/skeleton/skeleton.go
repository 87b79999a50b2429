package skeleton

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/cairn-mpi/cairn/analyzer/program"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// Options of a skeleton.
type Options struct {
	// Scale is the fraction of their iterations that outermost loops are shortened to. 1, or 0,
	// means no shortening.
	Scale float64
}

// A Skeleton is a program.
type Skeleton struct {
	Source           string // skeleton.c
	Makefile, Readme string
	Summary
}

// A Summary describes a skeleton.
type Summary struct {
	Ranks     int // of the trace
	Functions int // in C, including main
	Calls     int // MPI calls in the text
	// Fixed are the reasons why the program runs on the recorded number of ranks only. Empty: it
	// runs on others.
	Fixed []string
	// Sizes describes on which numbers of ranks the program runs, and why; "" if Fixed is not
	// empty.
	Sizes string
	// Topology is the topology in which peers are neighbors; "": there is none.
	Topology string
	// LeftOut are functions that the program does not call, with the number of calls of each in the
	// trace.
	LeftOut []LeftOut
	Notes   []string
	// Seconds is the duration of the program, and Expected that of the skeleton; 0: unknown.
	Seconds, Expected float64
	Shortened         []Loop
	Grid              bool // with dimensions that can be passed to the program
}

// A LeftOut is a function that is left out.
type LeftOut struct {
	Function string
	Calls    uint64
}

// A Loop is a shortened loop.
type Loop struct {
	FirstCall         string // in it
	First, Iterations uint64
}

// ErrUnsupported is the error of a trace from which no skeleton can be made.
var ErrUnsupported = errors.New("no skeleton can be made of this trace")

// New makes the skeleton of a trace. It reads all calls. The error is ErrUnsupported, or
// program.ErrIrregular, if the program cannot be written.
func New(ctx context.Context, t timeline.Trace, o Options) (*Skeleton, error) {
	if o.Scale <= 0 || o.Scale > 1 {
		o.Scale = 1
	}
	if err := suits(t); err != nil {
		return nil, err
	}
	left, erased, err := leaveOut(t)
	if err != nil {
		return nil, err
	}
	tree, err := program.NewTree(ctx, t, 0, erased)
	if err != nil {
		return nil, err
	}
	seen, err := observe(ctx, t, tree, erased, o.Scale)
	if err != nil {
		return nil, err
	}
	w := &writer{observer: seen, row: map[int]int{}, taken: map[string]bool{}, helpers: map[string]bool{}, scale: o.Scale}
	for _, name := range reserved {
		w.taken[name] = true
	}
	for row, r := range w.ranks {
		w.row[r] = row
	}
	if w.shape, err = recognize(t, len(w.ranks)); err != nil {
		return nil, err
	}
	w.body = w.unroll(w.byShape(w.body))
	w.declareHandles()
	w.countRequests(w.body)
	skeleton, err := w.write()
	if errors.Is(err, errUnsupported) {
		err = fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	if err != nil {
		return nil, err
	}
	skeleton.LeftOut = left
	if err := skeleton.documents(); err != nil {
		return nil, err
	}
	return skeleton, nil
}

// suits returns an error unless the trace is complete and has one thread per rank.
func suits(t timeline.Trace) error {
	if missing := t.Meta().MissingRanks.Len(); missing > 0 {
		return fmt.Errorf("%w: %d ranks are missing in it", ErrUnsupported, missing)
	}
	for _, r := range t.Ranks().All() {
		switch {
		case r.EndedEarly != "":
			return fmt.Errorf("%w: rank %d ended early (%s), and its messages with it", ErrUnsupported, r.Rank, r.EndedEarly)
		case r.Dropped > 0:
			return fmt.Errorf("%w: %d calls of rank %d were not recorded", ErrUnsupported, r.Dropped, r.Rank)
		}
	}
	for _, thread := range t.Threads().All() {
		if thread.Thread > 0 {
			return fmt.Errorf("%w: rank %d calls MPI from several threads, and a skeleton has one", ErrUnsupported, thread.Rank)
		}
	}
	if len(t.Meta().Excluded) > 0 {
		return fmt.Errorf("%w: it was recorded without calls of %s", ErrUnsupported, strings.Join(t.Meta().Excluded, ", "))
	}
	return nil
}

// leaveOut finds the signatures that are not part of a skeleton: calls that do not communicate and
// use functions or memory of the program, and unsuccessful polls. The error is ErrUnsupported if
// the rest would be another program without some calls.
func leaveOut(t timeline.Trace) ([]LeftOut, func(int32) bool, error) {
	signatures := t.Signatures()
	erased, names := make([]bool, len(signatures)), map[int32]string{}
	for terminal := range signatures {
		s := &signatures[terminal]
		f, meaning := t.Function(s.Function), t.Semantics(s.Function)
		if s.Untraced {
			return nil, nil, fmt.Errorf("%w: tracing was off for some of the run, so calls are missing", ErrUnsupported)
		}
		if f == nil || meaning == nil {
			continue
		}
		switch meaning.Operation {
		case semantics.Abort, semantics.GeneralizedRequest, semantics.SessionCreate, semantics.Port, semantics.NameService:
			return nil, nil, fmt.Errorf("%w: it calls %s", ErrUnsupported, f.Name)
		case semantics.CommunicatorCreate:
			switch meaning.Creation {
			case semantics.FromConnect, semantics.FromAccept, semantics.FromSpawn, semantics.FromJoin, semantics.FromGroup:
				return nil, nil, fmt.Errorf("%w: it calls %s", ErrUnsupported, f.Name)
			}
		case semantics.Query:
			if meaning.Creation == semantics.WithParent && s.Communicator.Form == trace.Stream {
				return nil, nil, fmt.Errorf("%w: its processes were spawned by others, which %s returned", ErrUnsupported, f.Name)
			}
		case semantics.Tool, semantics.ToolRead, semantics.KeyvalCreate, semantics.KeyvalFree, semantics.Attribute, semantics.ErrhandlerCreate,
			semantics.ErrhandlerFree, semantics.ErrhandlerUse, semantics.InfoCreate, semantics.InfoFree, semantics.InfoChange, semantics.SetInfo,
			semantics.ErrorCodes, semantics.Convert, semantics.Datarep, semantics.MemoryAlloc, semantics.MemoryFree, semantics.RequestStatus,
			semantics.SessionFree, semantics.StatusAccess:
			erased[terminal], names[int32(terminal)] = true, f.Name
		}
		declared := mpi.ByID(s.Function)
		if declared != nil && !erased[terminal] && beyond(declared) {
			erased[terminal], names[int32(terminal)] = true, f.Name
		}
		if failedPoll(meaning, s.Out) {
			erased[terminal], names[int32(terminal)] = true, f.Name+" that found nothing"
		}
	}
	calls := map[string]uint64{}
	grammar := t.Grammar()
	for _, root := range t.Threads().All() {
		for _, o := range grammar.Counts(root.Root) {
			if name := names[o.Terminal]; name != "" {
				calls[name] += o.Count
			}
		}
	}
	var left []LeftOut
	for name, n := range calls {
		left = append(left, LeftOut{name, n})
	}
	slices.SortFunc(left, func(a, b LeftOut) int { return cmp.Compare(a.Function, b.Function) })
	return left, func(terminal int32) bool { return erased[terminal] }, nil
}

// beyond reports whether a function queries handles, or queries attributes and info: it moves no
// data.
func beyond(f *mpi.Function) bool {
	for i := range f.Params {
		p := &f.Params[i]
		switch p.Kind {
		case mpi.KindInfo, mpi.KindErrhandler, mpi.KindKeyval, mpi.KindSession:
			if p.Direction != mpi.In {
				return true
			}
		}
		if p.Kind.IsHandle() && p.IsArray() && p.Direction == mpi.Out {
			return true
		}
	}
	return false
}

//go:embed skeleton.c.tmpl
var sourceText string

//go:embed Makefile.tmpl
var makefileText string

//go:embed README.tmpl
var readmeText string

var templates = template.Must(template.Must(template.Must(template.New("source").Parse(sourceText)).New("makefile").Parse(makefileText)).
	New("readme").Funcs(template.FuncMap{}).Parse(readmeText))

// reserved are names that tables and functions must not have: those of the template.
var reserved = []string{
	"main", "rank", "size", "status", "statuses", "ignored", "send_buffer", "receive_buffer", "compute", "prepare", "pick", "pick_one", "put_back",
	"ready", "picked", "combine", "allocate", "rank_in", "size_of", "seconds", "sleeping", "scale", "buffer", "auto", "break", "case", "char",
	"const", "continue", "default", "do", "double", "else", "enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "register",
	"restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while",
	"abort", "exit", "exp", "free", "malloc", "calloc", "printf", "fprintf", "read", "write", "send", "time", "clock", "wait", "y0", "y1", "j0", "j1",
	"memcpy", "memset", "getenv", "atof", "remove", "rename", "stderr", "stdout", "fopen", "fclose", "index", "div", "round", "floor", "log", "pow",
	"dims", "place", "periodic", "neighbor", "lay_out", "refuse", "bits", "children", "posted", "sin", "cos", "tan", "sqrt", "gamma", "link", "bind", "connect", "accept", "signal", "sync", "pause", "nice", "system", "start",
}

// write writes the program.
func (w *writer) write() (*Skeleton, error) {
	in := scope{ranks: w.ranks, indent: "    "}
	all := &step{Step: &program.Step{Terminal: -1}, body: w.body}
	all.share()
	in.depth = len(all.callers)
	var body strings.Builder
	if err := w.list(&body, w.body, in); err != nil {
		return nil, err
	}
	least := w.minimumRanks()
	s := &Skeleton{Summary: Summary{Ranks: len(w.ranks), Fixed: w.fixed, Seconds: w.span, Expected: w.span}}
	if w.untimed {
		s.Seconds, s.Expected = 0, 0
		s.Notes = append(s.Notes, "The trace does not have the times of single calls: the program does not compute.")
	}
	text := w.functions.String() + body.String()
	used := w.usedShape(text)
	if len(s.Fixed) == 0 {
		s.Sizes, s.Grid = used.sizes(least), used.is(gridShape)
		if used != nil {
			s.Topology = used.name
		}
	}
	s.Functions, s.Calls = strings.Count(text, "static void ")+1, strings.Count(text, " MPI_")
	for _, x := range w.shortened {
		l := w.messages.loops[x.Number]
		s.Expected -= l.seconds / float64(len(w.ranks)) * (1 - float64(x.first)/float64(x.iterations))
		s.Shortened = append(s.Shortened, Loop{w.nameOf(x.step), x.first, x.iterations})
	}
	if w.scale < 1 {
		s.Notes = append(s.Notes, w.unshortened()...)
	}
	for _, x := range w.steps {
		if x.failed > 0 {
			s.Notes = append(s.Notes, fmt.Sprintf("%d calls of %s returned an error when they were recorded, and are left out.", x.failed, x.text()))
		}
	}
	if w.memory.unknown {
		s.Notes = append(s.Notes, fmt.Sprintf("The sizes of some datatypes are not known; elements of them are taken to have %d bytes.", unknownType))
	}
	data := map[string]any{
		"Ranks": len(w.ranks), "Fixed": w.fixed, "Message": w.memory.message, "Block": w.memory.block, "Before": w.memory.before,
		"Declarations": w.declarations(), "Tables": w.tables.String(), "Functions": w.functions.String(), "Body": body.String(),
		"Counters": w.counters, "Helper": w.helpers, "Longest": w.longest, "Statuses": max(w.statusesOf, 1), "Files": len(w.files), "Symbols": w.symbols,
		"RankIn": strings.Contains(text, "rank_in("), "SizeOf": strings.Contains(text, "size_of("),
		"Send": strings.Contains(text, "send_buffer"), "Receive": strings.Contains(text, "receive_buffer"),
		"Summary": &s.Summary, "Newest": w.newest(), "Least": least, "Shape": used, "Neighbor": strings.Contains(text, "neighbor("),
	}
	var source bytes.Buffer
	if err := templates.ExecuteTemplate(&source, "source", data); err != nil {
		return nil, err
	}
	s.Source = source.String()
	return s, nil
}

// newest returns the function of the latest version of MPI, beyond those that all implementations
// have; nil: none.
func (w *writer) newest() (f *mpi.Function) {
	const everywhere = 301
	for _, s := range w.steps {
		if s.function != nil && s.function.Since > everywhere && (f == nil || s.function.Since > f.Since) {
			f = s.function
		}
	}
	return f
}

// unshortened lists the outermost loops that are not shortened, and why.
func (w *writer) unshortened() []string {
	const most = 5
	var notes []string
	for _, s := range w.body {
		l := w.messages.loops[s.Number]
		if l == nil || l.iterations == l.first {
			continue
		}
		if why := l.check(); why != "" {
			notes = append(notes, fmt.Sprintf("The loop that begins with %s has all of its %d iterations: %s.", w.nameOf(s), l.iterations, why))
		}
	}
	if more := len(notes) - most; more > 1 {
		notes = append(notes[:most], fmt.Sprintf("So have %d other loops.", more))
	}
	return notes
}

// Declaration returns the declaration of the variable.
func (s *symbol) Declaration() string {
	if s.length > 0 {
		return fmt.Sprintf("%s[%d]", s.name, s.length)
	}
	return s.name
}

// documents writes the other files of the program.
func (s *Skeleton) documents() error {
	var makefile, readme bytes.Buffer
	if err := templates.ExecuteTemplate(&makefile, "makefile", s); err != nil {
		return err
	}
	if err := templates.ExecuteTemplate(&readme, "readme", s); err != nil {
		return err
	}
	s.Makefile, s.Readme = makefile.String(), readme.String()
	return nil
}
