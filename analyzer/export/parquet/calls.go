package parquet

import (
	"context"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-mpi/cairn/analyzer/export/causality"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/volume"
	"github.com/cairn-mpi/cairn/internal/passes"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// A callBatch is some rows of the table of calls.
type callBatch struct {
	rows     []callRow
	nullable nullables
}

// calls writes the table of calls, thread by thread. One goroutine decodes, another one writes.
func (e *export) calls(ctx context.Context, waited *waited) error {
	to, err := newTable[callRow](&e.to, "calls")
	if err != nil {
		return err
	}
	ctx, _, end := passes.Calls(ctx, e.trace.Threads().Calls())
	defer end()
	full, empty := make(chan *callBatch, 2), make(chan *callBatch, 4)
	for range cap(empty) {
		empty <- &callBatch{rows: make([]callRow, 0, batch)}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(full)
		d := &decoding{export: e, payloads: map[uint16]volume.Payload{}, full: full, empty: empty}
		return d.all(ctx, waited)
	})
	group.Go(func() error {
		for b := range full {
			if to.write(b.rows); to.err != nil {
				return to.err
			}
			b.rows = b.rows[:0]
			b.nullable.reset()
			empty <- b
		}
		return nil
	})
	err = group.Wait()
	e.summary.Calls = to.n
	return err
}

// decoding makes rows of calls.
type decoding struct {
	*export
	payloads map[uint16]volume.Payload
	text     []byte
	seen     map[string]string // arguments: most are repeated

	now         *callBatch
	full, empty chan *callBatch
}

func (d *decoding) all(ctx context.Context, waited *waited) error {
	for i, l := range d.locations {
		if !d.chosen[i] {
			continue
		}
		waits, err := waited.of(i)
		if err != nil {
			return err
		}
		times := d.times(i)
		err = timeline.EachOf(ctx, d.trace, i, l, d.clocks, func(c *timeline.Call) error {
			ns := waits.at(c.Index)
			shown := !c.Event.Timed || d.shown(i, c.Enter, c.Exit)
			if times != nil {
				c.Enter, c.Exit = times.Enter(c.Enter), times.Exit(c.Index, c.Exit)
			}
			if !shown {
				return nil
			}
			return d.row(ctx, c, l, ns)
		})
		if err != nil {
			return err
		}
	}
	return d.pass(ctx)
}

// times returns the corrected times of a location's calls; nil: there are none.
func (e *export) times(location int) *causality.Times {
	if e.moved == nil {
		return nil
	}
	return e.moved.Of(location)
}

// pass sends the current batch to the writer.
func (d *decoding) pass(ctx context.Context) error {
	if d.now == nil {
		return nil
	}
	select {
	case d.full <- d.now:
		d.now = nil
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d *decoding) row(ctx context.Context, c *timeline.Call, l timeline.Location, waiting int64) error {
	if d.now == nil {
		select {
		case d.now = <-d.empty:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	b := d.now
	b.rows = append(b.rows, callRow{
		CallID: d.firstCall[c.Location] + int64(c.Index), Rank: int32(l.Rank), Thread: int32(l.Thread), Index: int64(c.Index),
		Function: c.Function.Name, CallSite: d.site(c.Signature.Site), Communicator: d.comm(c.Event.Comm),
		UntracedSince: c.Signature.Untraced, Unfinished: c.Event.Unfinished(), Arguments: d.arguments(c.Event),
	})
	r := &b.rows[len(b.rows)-1]
	if c.Event.Timed {
		r.EnterNS, r.ExitNS = b.nullable.int64(d.time(c.Enter)), b.nullable.int64(d.time(c.Exit))
		r.DurationNS, r.WaitingNS = b.nullable.int64(c.Exit-c.Enter), b.nullable.int64(waiting)
	}
	if c.Signature.Site > 0 {
		r.SiteID = b.nullable.int32(int32(c.Signature.Site))
	}
	if c.Event.Comm >= 0 {
		r.CommID = b.nullable.int32(int32(c.Event.Comm))
	}
	if c.Event.TimesOf != c.Event.Rank {
		r.TimesOf = b.nullable.int32(int32(c.Event.TimesOf))
	}
	if !r.Unfinished && !c.Event.Succeeded() {
		r.Error = errorName(&c.Event.Return)
	}
	d.meaning(r, &b.nullable, c.Event)
	if len(b.rows) == cap(b.rows) {
		return d.pass(ctx)
	}
	return nil
}

// maxSeen is the maximum number of texts that are kept.
const maxSeen = 1 << 14

// arguments returns the arguments of a call as JSON.
func (d *decoding) arguments(e *trace.Event) string {
	d.text = e.AppendArgumentsJSON(d.text[:0])
	if s, known := d.seen[string(d.text)]; known {
		return s
	}
	if d.seen == nil || len(d.seen) == maxSeen {
		d.seen = map[string]string{}
	}
	s := string(d.text)
	d.seen[s] = s
	return s
}

func errorName(v *trace.Value) string {
	switch v.Form {
	case trace.Name:
		return v.Text
	case trace.Null:
		return trace.LeftByProgram
	}
	return strconv.FormatInt(v.Int, 10)
}

// meaning fills in the columns that interpret the arguments of a call.
func (d *decoding) meaning(r *callRow, nullable *nullables, e *trace.Event) {
	in := e.Semantics.In
	ranks := worldRanks{d.trace.Communicators(), e}
	for _, role := range [...]semantics.Role{semantics.Destination, semantics.Source, semantics.Target} {
		if v := at(e.In, in[role]); v != nil && r.Peer == nil {
			if rank := ranks.of(v); rank >= 0 {
				r.Peer = nullable.int32(int32(rank))
			}
		}
	}
	status := statusOf(e)
	if r.Peer == nil && status != nil && e.Semantics.Operation == semantics.Receive {
		if rank := ranks.of(&status.List[statusSource]); rank >= 0 {
			r.Peer = nullable.int32(int32(rank))
		}
	}
	if rank := ranks.of(at(e.In, in[semantics.Root])); rank >= 0 {
		r.Root = nullable.int32(int32(rank))
	}
	tag := at(e.In, in[semantics.Tag])
	if tag == nil {
		tag = at(e.In, in[semantics.ReceiveTag])
	}
	if tag != nil && tag.Form != trace.Int && status != nil {
		tag = &status.List[statusTag]
	}
	if tag != nil && tag.Form == trace.Int {
		r.Tag = nullable.int32(int32(tag.Int))
	}
	count := at(e.In, in[semantics.Count])
	if count == nil {
		count = at(e.In, in[semantics.ReceiveCount])
	}
	if n, known := total(count); known {
		r.Count = nullable.int64(n)
	}
	payload, known := d.payloads[e.Function.ID]
	if !known {
		payload = volume.PayloadOf(e.Semantics)
		d.payloads[e.Function.ID] = payload
	}
	if size := payload.Of(e, d.trace.Communicators()); size.Known {
		r.Bytes = nullable.int64(int64(size.Bytes))
	}
	datatype := at(e.In, in[semantics.Datatype])
	if datatype == nil {
		datatype = at(e.In, in[semantics.ReceiveDatatype])
	}
	r.Datatype, r.Operation = name(datatype, "datatype"), name(at(e.In, in[semantics.Operator]), "op")
}

// Indices of the fields of a status.
const (
	statusSource = 0
	statusTag    = 1
)

// statusOf returns the status of a call, nil unless there is exactly one.
func statusOf(e *trace.Event) *trace.Value {
	if v := at(e.Out, e.Semantics.Out[semantics.Status]); v != nil && v.Form == trace.Status && len(v.List) > statusTag {
		return v
	}
	return nil
}

func at(values []trace.Value, i int8) *trace.Value {
	if i < 0 || int(i) >= len(values) {
		return nil
	}
	return &values[i]
}

// total returns a number, or the sum of a list.
func total(v *trace.Value) (sum int64, known bool) {
	switch {
	case v == nil:
	case v.Form == trace.Int:
		return v.Int, true
	case v.Form == trace.List:
		for i := range v.List {
			sum += v.List[i].Int
		}
		return sum, true
	}
	return 0, false
}

// name returns the name of a constant of MPI, or of an object that the program created.
func name(v *trace.Value, kind string) string {
	switch {
	case v == nil:
	case v.Form == trace.Name:
		return v.Text
	case v.Form == trace.Handle:
		return kind + "#" + strconv.FormatInt(v.Int, 10)
	}
	return ""
}

// worldRanks converts ranks in the arguments of a call to ranks in MPI_COMM_WORLD.
type worldRanks struct {
	communicators []trace.Communicator
	call          *trace.Event
}

// of returns −1 if the value is not a rank of this world: MPI_PROC_NULL, MPI_ANY_SOURCE, MPI_ROOT.
func (w worldRanks) of(v *trace.Value) int {
	if v == nil || v.Form != trace.Int || v.Int < 0 || w.call.Comm < 0 {
		return -1
	}
	c := &w.communicators[w.call.Comm]
	group := c.Members
	if len(c.Remote) > 0 {
		if c.RemoteWorld != "" && c.Members.Index(w.call.Rank) >= 0 {
			return -1
		}
		if c.Members.Index(w.call.Rank) >= 0 {
			group = c.Remote
		}
	}
	if v.Int >= int64(group.Len()) {
		return -1
	}
	return group.At(int(v.Int))
}
