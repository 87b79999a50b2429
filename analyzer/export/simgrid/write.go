package simgrid

import (
	"bufio"
	"errors"
	"strconv"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/activity"
	"github.com/cairn-mpi/cairn/analyzer/polling"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

var errStop = errors.New("no more calls are needed")

// A writer writes the actions of a rank.
type writer struct {
	*export
	out    *bufio.Writer
	line   []byte
	rank   int
	start  int64
	thread activity.Thread
	gaps   *polling.LocationGaps
	begun  bool
	site   string // the latest call site written

	posts   []post // the remaining ones
	entries []entry
	pending []pending // posted and not complete, in order of posts
}

// A pending request is one end of a message.
type pending struct {
	done uint64 // the call that completes it, + 1; 0: none
	peer int
	tag  int
	send bool
}

func newWriter(e *export, out *bufio.Writer, location int, start int64) *writer {
	t := &e.recorder.threads[location]
	return &writer{export: e, out: out, rank: e.recorder.locations[location].Rank, start: start, posts: t.posts, entries: t.entries}
}

// action writes a line.
func (w *writer) action(name string, arguments ...int64) {
	b := strconv.AppendInt(w.line[:0], int64(w.rank), 10)
	b = append(append(b, ' '), name...)
	for _, v := range arguments {
		b = strconv.AppendInt(append(b, ' '), v, 10)
	}
	b = append(b, '\n')
	w.line = b
	_, _ = w.out.Write(w.line) // Flush reports the error
	w.summary.Actions++
}

func (w *writer) sleep(ns int64) {
	if ns > 0 {
		w.action("sleep " + strconv.FormatFloat(float64(ns)/1e9, 'f', 9, 64))
	}
}

func (w *writer) begin() { w.action("init") }

// end waits for what the run never waited for.
func (w *writer) end() {
	w.complete(0, semantics.Unknown)
	w.action("finalize")
}

func (w *writer) call(c *timeline.Call) error {
	step := w.thread.See(&c.Record, w.gaps.See(c.Event))
	if step != nil {
		w.time(step, c)
	}
	w.locate(c)
	var here []post
	for len(w.posts) > 0 && w.posts[0].call == c.Index {
		if w.posts[0].known {
			here = append(here, w.posts[0])
		}
		w.posts = w.posts[1:]
	}
	for len(w.entries) > 0 && w.entries[0].call == c.Index {
		w.collective(c, &w.entries[0])
		w.entries = w.entries[1:]
	}
	w.post(here, c.Index)
	w.complete(c.Index+1, c.Semantics.Operation)
	w.notWritten(c)
	return nil
}

// time writes the time before a call, and calls that take time themselves.
func (w *writer) time(step *activity.Step, c *timeline.Call) {
	if !w.begun {
		w.begun = true
		w.sleep(c.Enter - w.start)
	}
	for _, s := range step.Spans() {
		switch s.Kind {
		case activity.Computation:
			w.action("compute", s.To-s.From)
		case activity.Untraced, activity.Tool:
			w.sleep(s.To - s.From)
		case activity.Call:
			if c.Semantics.IsFileOperation() {
				w.sleep(s.To - s.From)
			}
		case activity.Waiting:
		}
	}
}

// locate writes the call site of an action if it is not the previous one.
func (w *writer) locate(c *timeline.Call) {
	site := c.Event.Site
	acts := len(w.posts) > 0 && w.posts[0].call == c.Index || len(w.entries) > 0 && w.entries[0].call == c.Index
	if site == nil || site.File == "" || site.Line == 0 || !acts {
		return
	}
	file := site.File[strings.LastIndexByte(site.File, '/')+1:]
	name := "location " + strings.Map(func(c rune) rune {
		if c == ' ' || c == '\t' || c == '\n' {
			return '_'
		}
		return c
	}, file) + " " + strconv.Itoa(site.Line)
	if name != w.site {
		w.site = name
		w.action(name)
	}
}

// post writes the messages that a call posts. If it posts a single one and completes it, it is
// blocking.
func (w *writer) post(here []post, call uint64) {
	for i := range here {
		p := &here[i]
		tag := w.recorder.tags[p.channel]
		name := "irecv"
		if p.send {
			name = "isend"
			w.summary.Messages++
		}
		if p.mode == semantics.Synchronous && p.bytes < w.summary.HandshakeFrom && p.send {
			w.recorder.left.add("waits of small synchronous sends for their receives", 1)
		}
		blocks := len(here) == 1 && p.done == call+1 && !(p.send && p.mode == semantics.Buffered)
		if blocks {
			name = name[1:]
		}
		w.action(name, int64(p.peer), int64(tag), p.bytes)
		if blocks {
			continue
		}
		done := p.done
		if p.send && p.mode == semantics.Buffered {
			done = 0
		}
		w.pending = append(w.pending, pending{done, int(p.peer), tag, p.send})
	}
}

// complete waits for what a call completes; 0: for everything.
func (w *writer) complete(call uint64, operation semantics.Operation) {
	n := 0
	for _, p := range w.pending {
		if call == 0 || p.done == call {
			n++
		}
	}
	if n > 1 && n == len(w.pending) && (call == 0 || operation == semantics.WaitAll) {
		w.action("waitall")
		w.pending = w.pending[:0]
		return
	}
	if n == 0 {
		return
	}
	still := w.pending[:0]
	for _, p := range w.pending {
		if call != 0 && p.done != call {
			still = append(still, p)
			continue
		}
		if p.send {
			w.action("wait", int64(w.rank), int64(p.peer), int64(p.tag))
		} else {
			w.action("wait", int64(p.peer), int64(w.rank), int64(p.tag))
		}
	}
	w.pending = still
}

// notWritten counts calls that move data in ways that SimGrid cannot replay.
func (w *writer) notWritten(c *timeline.Call) {
	if c.Semantics.Operation == semantics.RemoteAccess {
		w.recorder.left.add("calls of "+c.Function.Name, 1)
	}
}
