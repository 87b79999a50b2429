package logical

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// read returns the calls of a rank's main thread, as indices into the dictionary.
func (p *Program) read(ctx context.Context, t timeline.Trace, rank int) ([]int32, error) {
	thread := t.Threads().Find(rank, 0)
	if thread < 0 {
		return nil, nil
	}
	cursor, err := t.Calls(rank, 0)
	if err != nil {
		return nil, err
	}
	var list []int32
	for cursor.Next() {
		if len(list)&0xffff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		e := cursor.Event()
		text, peers := p.text(t, e, func(parameter int, peer string) {
			at := argument{thread, e.Terminal, parameter, false}
			if had, known := p.directions[at]; known && had != peer {
				peer = ""
			}
			p.directions[at] = peer
		})
		along, beside := false, false
		for _, peer := range peers {
			along, beside = along || isDirection(peer), beside || strings.HasPrefix(peer, "rank ")
		}
		if beside {
			p.Outside++
		} else if along {
			p.Inside++
		}
		list = append(list, p.number(call{kind{e.Signature.Function, e.Signature.Site, completes(e.Semantics)}, text, peers}))
	}
	return list, cursor.Err()
}

// completes reports whether a function completes requests: it waits for them, or tests them.
func completes(f *semantics.Function) bool {
	switch f.Operation {
	case semantics.Wait, semantics.WaitAny, semantics.WaitSome, semantics.WaitAll:
		return true
	}
	return false
}

// text returns a call with "%s" for each peer; see is called for each peer.
func (p *Program) text(t timeline.Trace, e *trace.Event, see func(parameter int, peer string)) (string, []string) {
	var b strings.Builder
	var peers []string
	b.WriteString(e.Function.Name)
	fmt.Fprintf(&b, "#%d", e.Signature.Site)
	in := 0
	for i := range e.Function.Parameters {
		parameter := &e.Function.Parameters[i]
		if parameter.Direction == trace.Out || in >= len(e.In) {
			continue
		}
		v := &e.In[in]
		in++
		switch e.Semantics.Roles[i] {
		case semantics.Buffer, semantics.Request, semantics.RequestCount, semantics.Status:
			continue
		case semantics.Destination, semantics.Source:
			peer := p.peer(t, e, v)
			see(i, peer)
			peers = append(peers, peer)
			fmt.Fprintf(&b, " %s=%%s", parameter.Name)
		default:
			fmt.Fprintf(&b, " %s=%s", parameter.Name, strings.ReplaceAll(valueText(v), "%", "%%"))
		}
	}
	return b.String(), peers
}

// peer returns the name of a peer: a direction, the rank in MPI_COMM_WORLD, its rank in another
// world, or a name of MPI.
func (p *Program) peer(t timeline.Trace, e *trace.Event, v *trace.Value) string {
	if v.Form == trace.Name {
		return v.Text
	}
	world := int(v.Int)
	if comms := t.Communicators(); e.Comm >= 0 && v.Int >= 0 {
		if group := others(&comms[e.Comm], e.Rank); world < group.Len() {
			world = group.At(world)
		}
	}
	if world < 0 {
		return fmt.Sprintf("rank %d of another world", v.Int)
	}
	if s := p.shape; s != nil && e.Rank < len(s.Vertex) && world >= 0 && world < len(s.Vertex) && s.Vertex[e.Rank] >= 0 && s.Vertex[world] >= 0 && s.Copy[e.Rank] == s.Copy[world] {
		for d, there := range p.neighbors(e.Rank) {
			if there == s.Vertex[world] {
				return d
			}
		}
	}
	return fmt.Sprintf("rank %d", world)
}

// others returns the group that peers of a rank are numbered in: in an intercommunicator the remote
// group.
func others(c *trace.Communicator, rank int) trace.RankList {
	if c.Remote.Len() > 0 && c.Members.Index(rank) >= 0 {
		return c.Remote
	}
	return c.Members
}

func valueText(v *trace.Value) string {
	switch v.Form {
	case trace.List, trace.Status:
		words := make([]string, len(v.List))
		for i := range v.List {
			words[i] = valueText(&v.List[i])
		}
		return "[" + strings.Join(words, " ") + "]"
	case trace.Name, trace.Text:
		return v.Text
	case trace.Pointer:
		return "*"
	}
	return strconv.Itoa(int(v.Form)) + ":" + strconv.FormatInt(v.Int, 10)
}
