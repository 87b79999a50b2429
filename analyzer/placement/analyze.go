package placement

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/topology"
	"github.com/cairn-mpi/cairn/analyzer/traffic"
	"github.com/cairn-mpi/cairn/trace"
)

// Options of the placement analysis.
type Options struct {
	// Clocks of the run; without them the run is not replayed.
	Clocks *timeline.Clocks
	// Near and Far are the network within a node and between nodes; both zero:
	// DefaultNear and DefaultFar.
	Near, Far predict.Network
	// Shape is the topology of the run's traffic if it is known; nil: it is computed.
	Shape *topology.Topology
}

// DefaultNear and DefaultFar are typical shared memory and a typical cluster network: 0.5 µs and 10
// GB/s, 5 µs and 2.5 GB/s.
var (
	DefaultNear = predict.Network{Latency: 500, PerByte: 0.1}
	DefaultFar  = predict.Network{Latency: 5000, PerByte: 0.4}
)

// worthwhile is the fraction of the crossing traffic that an order must save to be advised.
const worthwhile = 0.02

// Analyze searches a better order of the ranks and replays the run with it.
func Analyze(ctx context.Context, t timeline.Trace, o Options) (Findings, error) {
	a, err := Advise(t, o)
	if err != nil || o.Clocks == nil || len(a.Scenarios) == 0 || timeline.NeedTimes(t, "a prediction") != nil {
		return a.found, err
	}
	lengths, err := predict.Play(ctx, t, o.Clocks, a.Scenarios)
	if err != nil {
		return a.found, err
	}
	return a.Findings(lengths), nil
}

// An Advice is a better order of the ranks, or the result that there is none.
type Advice struct {
	// Scenarios are the scenarios to replay in order to evaluate the order: the original one and
	// the better one, on the networks of the options. None: there is no better order.
	Scenarios []predict.Scenario
	found     Findings
	options   Options
}

// Advise searches a better order of the ranks. It needs no times.
func Advise(t timeline.Trace, o Options) (*Advice, error) {
	if o.Near.Latency == 0 && o.Near.PerByte == 0 && o.Far.Latency == 0 && o.Far.PerByte == 0 {
		o.Near, o.Far = DefaultNear, DefaultFar
	}
	a := &Advice{options: o}
	now, then, err := a.found.search(t, o)
	if err != nil || then == nil {
		return a, err
	}
	a.Scenarios = []predict.Scenario{{Network: a.network(t, now)}, {Network: a.network(t, then)}}
	return a, nil
}

// Findings returns the findings with the gain according to the durations of its scenarios; nil:
// they were not replayed.
func (a *Advice) Findings(lengths []int64) Findings {
	f, o := a.found, a.options
	if len(lengths) < 2 || lengths[0] == 0 {
		return f
	}
	gain := 1 - float64(lengths[1])/float64(lengths[0])
	f.Gain = &gain
	f.Assumes = fmt.Sprintf("a message takes %.3g µs and %.3g ns per byte within a node, %.3g µs and %.3g ns between nodes; ranks compute equally fast everywhere",
		o.Near.Latency/1e3, o.Near.PerByte, o.Far.Latency/1e3, o.Far.PerByte)
	how := "shorter"
	if gain < 0 {
		how = "longer"
	}
	f.Text = strings.TrimSuffix(f.Text, ".") + fmt.Sprintf(", and the run %.1f%% %s by the replay.", 100*math.Abs(gain), how)
	return f
}

// network returns the network for ranks on these nodes.
func (a *Advice) network(t timeline.Trace, at []int) *predict.Network {
	locations := timeline.Locations(t)
	node := make([]int, len(locations))
	for i, l := range locations {
		node[i] = at[l.Row]
	}
	n := a.options.Far
	n.Link = func(from, to int) *predict.Network {
		if node[from] == node[to] {
			return &a.options.Near
		}
		return &a.options.Far
	}
	return &n
}

// search determines the present and a better assignment of ranks to nodes; then is nil if there is
// no better one.
func (f *Findings) search(t timeline.Trace, o Options) (now, then []int, err error) {
	*f = Findings{SchemaVersion: SchemaVersion, Nodes: []Node{}, Order: []int{}, Proposed: []Node{}}
	ranks := t.Ranks().List()
	row := make(map[int]int, len(ranks))
	for i, r := range ranks {
		row[r.Rank] = i
	}
	node, names := nodesOf(ranks)
	on := func(at []int) (nodes []Node) {
		members := make([][]int, len(names))
		for i, n := range at {
			members[n] = append(members[n], ranks[i].Rank)
		}
		for n, name := range names {
			nodes = append(nodes, Node{name, trace.NewRankList(members[n]).String()})
		}
		return nodes
	}
	f.Nodes = append(f.Nodes, on(node)...)
	pairs, err := t.Matrix()
	if err != nil {
		return nil, nil, fmt.Errorf("communication matrix: %w", err)
	}
	pairs = slices.DeleteFunc(slices.Clone(pairs), func(one traffic.Pair) bool {
		_, source := row[one.Source]
		_, dest := row[one.Dest]
		return !source || !dest || one.Source == one.Dest
	})
	crossing := func(at []int) (bytes, messages uint64) {
		for _, one := range pairs {
			if at[row[one.Source]] != at[row[one.Dest]] {
				bytes, messages = bytes+one.Bytes, messages+one.Messages
			}
		}
		return bytes, messages
	}
	for _, one := range pairs {
		f.Bytes, f.Messages = f.Bytes+one.Bytes, f.Messages+one.Messages
	}
	f.Crossing, f.CrossingMessages = crossing(node)
	f.Predicted, f.PredictedMessages = f.Crossing, f.CrossingMessages
	switch {
	case len(names) < 2:
		f.Text = "All ranks run on one node."
		return node, nil, nil
	case f.CrossingMessages == 0:
		f.Text = "No message goes from one node to another."
		return node, nil, nil
	}
	shape := o.Shape
	if shape == nil {
		found := topology.Identify(topology.World(pairs, t.Meta().WorldSize), topology.Options{})
		shape = &found
	}
	at := graphOf(pairs, row, len(ranks)).best(node, len(names), tilings(shape, row, largest(node, len(names))), f.Messages)
	bytes, messages := crossing(at)
	if saved(f.Crossing, bytes) < worthwhile && (f.Crossing > 0 || saved(f.CrossingMessages, messages) < worthwhile) {
		f.Text = fmt.Sprintf("%s of the %s cross nodes; no order of the ranks with clearly less traffic between nodes was found.", f.share(f.Crossing, f.CrossingMessages), f.what())
		return node, nil, nil
	}
	f.Predicted, f.PredictedMessages = bytes, messages
	for _, from := range order(node, at) {
		f.Order = append(f.Order, ranks[from].Rank)
	}
	f.Proposed = on(at)
	f.Text = fmt.Sprintf("%s of the %s cross nodes; with the ranks in another order it would be %s.", f.share(f.Crossing, f.CrossingMessages), f.what(), f.share(f.Predicted, f.PredictedMessages))
	return node, at, nil
}

// order returns for each rank (by row) the rank whose slot it should take: ranks that stay on their
// node keep theirs, the others take the free ones, in order.
func order(now, then []int) []int {
	free := map[int][]int{} // free slots by node
	for i := range now {
		if now[i] != then[i] {
			free[now[i]] = append(free[now[i]], i)
		}
	}
	places := make([]int, len(now))
	for i := range now {
		places[i] = i
		if now[i] != then[i] {
			places[i] = free[then[i]][0]
			free[then[i]] = free[then[i]][1:]
		}
	}
	return places
}

// largest returns the size of the largest node.
func largest(node []int, nodes int) int {
	ranks := make([]int, nodes)
	for _, n := range node {
		ranks[n]++
	}
	return slices.Max(ranks)
}

// nodesOf numbers the nodes of the ranks.
func nodesOf(ranks []trace.Rank) (node []int, names []string) {
	known := map[string]int{}
	for _, r := range ranks {
		machine := cmp.Or(r.Node, r.BootID, r.Host) // hosts of one boot id are one machine
		n, there := known[machine]
		if !there {
			n = len(names)
			known[machine] = n
			names = append(names, nodeName(&r))
		}
		node = append(node, n)
	}
	return node, names
}

// nodeName returns the readable name of a rank's machine: the Kubernetes node, otherwise its host.
func nodeName(r *trace.Rank) string { return cmp.Or(r.Node, r.Host, r.BootID) }

func saved(before, after uint64) float64 {
	if before == 0 {
		return 0
	}
	return 1 - float64(after)/float64(before)
}

// what returns the unit of the traffic: bytes, or messages if there are no bytes.
func (f *Findings) what() string {
	if f.Bytes == 0 {
		return "messages"
	}
	return "bytes"
}

// share formats a fraction of the traffic.
func (f *Findings) share(bytes, messages uint64) string {
	if f.Bytes == 0 {
		return fmt.Sprintf("%.0f%%", 100*float64(messages)/float64(f.Messages))
	}
	return fmt.Sprintf("%.0f%%", 100*float64(bytes)/float64(f.Bytes))
}
