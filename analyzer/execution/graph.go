package execution

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

// SchemaVersion is the version of Graph.
const SchemaVersion = 1

// A Graph is the execution graph of a window, in seconds since the start of the run.
type Graph struct {
	SchemaVersion int      `json:"schema_version"`
	From          float64  `json:"from_seconds"`
	To            float64  `json:"to_seconds"`
	Vertices      []Vertex `json:"vertices"` // by rank and thread, in order of time
	Edges         []Edge   `json:"edges"`
	Omitted       int      `json:"omitted_vertices"` // number of vertices beyond MaxVertices
}

// A Vertex is a call.
type Vertex struct {
	Rank     int     `json:"rank"`
	Thread   int     `json:"thread"`
	Function string  `json:"function"`
	CallSite string  `json:"call_site,omitempty"`
	Enter    float64 `json:"enter_seconds"`
	Exit     float64 `json:"exit_seconds"`

	location int
}

// An Edge leads from a vertex to another, given by their indices in Vertices.
type Edge struct {
	From int    `json:"from"`
	To   int    `json:"to"`
	Kind string `json:"kind"` // "computation" (horizontal), "message" or "collective" (vertical)
}

// MaxVertices bounds a graph to a size that can be displayed.
const MaxVertices = 20_000

// Options select the contents of the graph.
type Options struct {
	From, To float64          // seconds since the start of the run
	Ranks    func(r int) bool // nil: all
	Clocks   *timeline.Clocks
}

type instant struct {
	location int
	enter    int64
}

// Analyze returns the graph. It reads all calls of the run, because dependencies follow from their
// order alone.
func Analyze(ctx context.Context, t timeline.Trace, o Options) (*Graph, error) {
	if err := timeline.NeedTimes(t, "an execution graph of a part of the run"); err != nil {
		return nil, err
	}
	g := &Graph{SchemaVersion: SchemaVersion, From: o.From, To: o.To, Vertices: []Vertex{}, Edges: []Edge{}}
	locations, sites := timeline.Locations(t), t.Sites()
	b := &builder{at: map[instant]int{}, edges: map[[2]int]string{}}
	first, began := int64(0), false
	_, err := match.All(ctx, t, o.Clocks, b, func(c *match.Call) {
		if !began {
			first, began = c.Enter, true
		}
		enter, exit := float64(c.Enter-first)/1e9, float64(c.Exit-first)/1e9
		l := locations[c.Location]
		if exit < o.From || enter > o.To || o.Ranks != nil && !o.Ranks(l.Rank) {
			return
		}
		if len(g.Vertices) == MaxVertices {
			g.Omitted++
			return
		}
		v := Vertex{Rank: l.Rank, Thread: l.Thread, Function: c.Function.Name, Enter: enter, Exit: exit, location: c.Location}
		if s := c.Signature.Site; s > 0 && int(s) <= len(sites) {
			v.CallSite = callsite.Name(&sites[s-1])
		}
		b.at[instant{c.Location, c.Enter}] = len(g.Vertices)
		g.Vertices = append(g.Vertices, v)
	})
	if err != nil {
		return nil, err
	}
	place := g.sort()
	last := map[int]int{}
	for i, v := range g.Vertices {
		if before, there := last[v.location]; there {
			g.Edges = append(g.Edges, Edge{before, i, "computation"})
		}
		last[v.location] = i
	}
	var vertical []Edge
	for pair, kind := range b.edges {
		vertical = append(vertical, Edge{place[pair[0]], place[pair[1]], kind})
	}
	slices.SortFunc(vertical, func(a, b Edge) int {
		if a.From != b.From {
			return a.From - b.From
		}
		return a.To - b.To
	})
	g.Edges = append(g.Edges, vertical...)
	return g, nil
}

// sort groups the vertices by thread and returns their new indices.
func (g *Graph) sort() []int {
	order := make([]int, len(g.Vertices))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return g.Vertices[a].location - g.Vertices[b].location })
	sorted, place := make([]Vertex, len(order)), make([]int, len(order))
	for to, from := range order {
		sorted[to], place[from] = g.Vertices[from], to
	}
	g.Vertices = sorted
	return place
}

// A builder is a match.Handler that collects the vertical edges between vertices. It receives a
// message or a collective after the calls that it connects.
type builder struct {
	at    map[instant]int   // index of a call in Vertices
	edges map[[2]int]string // kind of the edge by the indices of the calls that it connects
}

// edge records that the call waiting waited for the call cause, if both are vertices.
func (b *builder) edge(cause, waiting instant, kind string) {
	from, known := b.at[cause]
	to, also := b.at[waiting]
	if known && also && cause.location != waiting.location {
		b.edges[[2]int{from, to}] = kind
	}
}

// Message implements match.Handler.
func (b *builder) Message(m *match.Message) {
	if done := m.Receive.Done; done != nil {
		b.edge(instant{m.Send.Post.Location, m.Send.Post.Enter}, instant{done.Location, done.Enter}, "message")
	}
}

// Collective implements match.Handler.
func (b *builder) Collective(c *match.Collective, part int) {
	awaited := c.Awaited(part)
	if awaited < 0 || awaited == part || !c.Parts[awaited].Present() {
		return
	}
	post, done := c.Parts[awaited].Post, c.Parts[part].Done
	b.edge(instant{post.Location, post.Enter}, instant{done.Location, done.Enter}, "collective")
}

// Settled implements match.Handler.
func (b *builder) Settled(*match.Completion) {}

// WriteDOT writes the graph for Graphviz: a row for each thread.
func (g *Graph) WriteDOT(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprint(out, "digraph execution {\n  rankdir=LR;\n  node [shape=box, fontsize=10];\n  edge [fontsize=9];\n")
	location := -1
	for i, v := range g.Vertices {
		if v.location != location {
			if location >= 0 {
				fmt.Fprintln(out, "  }")
			}
			location = v.location
			fmt.Fprintf(out, "  subgraph \"cluster_%d\" {\n    label=\"rank %d thread %d\";\n", location, v.Rank, v.Thread)
		}
		fmt.Fprintf(out, "    v%d [label=%q];\n", i, fmt.Sprintf("%s\n%s\n%.6f s", v.Function, callsite.Short(v.CallSite), v.Enter))
	}
	if location >= 0 {
		fmt.Fprintln(out, "  }")
	}
	for _, e := range g.Edges {
		if e.Kind == "computation" {
			fmt.Fprintf(out, "  v%d -> v%d [label=%q];\n", e.From, e.To, fmt.Sprintf("%.3g µs", 1e6*max(0, g.Vertices[e.To].Enter-g.Vertices[e.From].Exit)))
		} else {
			fmt.Fprintf(out, "  v%d -> v%d [style=dashed, constraint=false, label=%q];\n", e.From, e.To, e.Kind)
		}
	}
	fmt.Fprintln(out, "}")
	return out.Flush()
}
