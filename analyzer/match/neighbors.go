package match

import "github.com/cairn-mpi/cairn/mpi/semantics"

// Neighbors in graph topologies (MPI 4.0 §8.5.3, §8.5.4) are arguments of the calls that create the
// communicator. Vertices of the graph are ranks of the new communicator. A caller specifies the
// neighbors of its rank in the old one.

// learnGraph records the neighbors in the new communicator from the call that creates it.
func (m *Matcher) learnGraph(p *plan, c *Call) {
	g := m.group(m.instances.comm(c.event.NewComm))
	if g == nil {
		return
	}
	if g.sources == nil {
		g.sources = make([][]int32, g.size())
		m.graphs++
	}
	edge := func(from, to int64) {
		if from >= 0 && to >= 0 && from < int64(g.size()) && to < int64(g.size()) {
			g.sources[to] = append(g.sources[to], int32(from))
		}
	}
	sources, destinations := p.in(c.event, semantics.GraphSources).List, p.in(c.event, semantics.GraphDestinations).List
	switch {
	case p.In[semantics.GraphIndex] >= 0: // MPI_Graph_create
		if c.event.OwnRank == 0 { // all ranks pass the whole graph
			edges, at := p.in(c.event, semantics.GraphEdges).List, int64(0)
			for node, end := range p.in(c.event, semantics.GraphIndex).List {
				for ; at < number(&end) && at < int64(len(edges)); at++ {
					edge(number(&edges[at]), int64(node))
				}
			}
		}
	case p.In[semantics.GraphDegrees] >= 0: // MPI_Dist_graph_create; its adjacent form has none
		degrees, at := p.in(c.event, semantics.GraphDegrees).List, 0
		for i := range sources {
			for range number(argument(degrees, i)) {
				if at == len(destinations) {
					return
				}
				edge(number(&sources[i]), number(&destinations[at]))
				at++
			}
		}
	default:
		for i := range sources {
			edge(number(&sources[i]), int64(c.event.OwnRank))
		}
	}
}

// lastSource returns the source of a part in a graph topology that entered last, −1 if it has none.
func (c *Collective) lastSource(part int) int {
	last := -1
	if part >= len(c.topology.sources) {
		return last
	}
	for _, s := range c.topology.sources[part] {
		if p := &c.Parts[s]; p.Present() && (last < 0 || p.Post.Enter > c.Parts[last].Post.Enter) {
			last = int(s)
		}
	}
	return last
}
