package otf2

import (
	"fmt"

	"github.com/cairn-mpi/cairn/trace"
)

// defineRanks defines all ranks and their nodes, including those that are not exported, so that
// ranks keep their numbers.
func (e *export) defineRanks() {
	d := &e.defined
	meta := e.trace.Meta()
	d.Creator, d.Machine = e.options.Creator, "Kubernetes"
	d.Description = fmt.Sprintf("MPI calls of %d ranks (%s %s), recorded by Cairn", meta.WorldSize, meta.Implementation, meta.Version)
	machine := uint32(len(d.Nodes))
	d.Nodes = append(d.Nodes, Node{Name: e.strings.of(d.Machine), Class: e.strings.of("machine"), Parent: Undefined, Machine: true})
	nodes, row := map[string]uint32{}, -1
	rank := e.trace.Ranks().Lookup()
	for i, l := range e.locations {
		r := rank(l.Row)
		if l.Row != row {
			row = l.Row
			d.Processes = append(d.Processes, e.processOf(l.Rank, &r, nodes, machine))
		}
		name := fmt.Sprintf("Master thread:%d", l.Rank)
		if l.Main != i {
			name = fmt.Sprintf("Thread %d:%d", l.Thread, l.Rank)
		}
		d.Locations = append(d.Locations, Location{ID: uint64(i), Name: e.strings.of(name), Process: uint32(len(d.Processes) - 1)})
	}
	e.defineCommunicators()
}

// processOf defines a rank, and its node if it is the first rank there.
func (e *export) processOf(number int, r *trace.Rank, nodes map[string]uint32, machine uint32) Process {
	where := r.Node
	if where == "" {
		where = r.Host
	}
	node, known := nodes[where]
	if !known {
		node = uint32(len(e.defined.Nodes))
		nodes[where] = node
		e.defined.Nodes = append(e.defined.Nodes, Node{Name: e.strings.of(where), Class: e.strings.of("node"), Parent: machine})
	}
	p := Process{Name: e.strings.of(fmt.Sprintf("MPI Rank %d", number)), Node: node, Rank: number}
	for _, property := range [][2]string{{"Pod", r.Pod}, {"Host", r.Host}, {"Executable", r.Executable}} {
		if property[1] != "" {
			p.Properties = append(p.Properties, NamedString{e.strings.of(property[0]), e.strings.of(property[1])})
		}
	}
	return p
}

// defineCommunicators numbers communicators as in the trace, except MPI_COMM_SELF, of which OTF2
// has one for all ranks.
func (e *export) defineCommunicators() {
	d := &e.defined
	mains := map[int]uint64{} // index into the group of all ranks, by rank
	world := Group{Name: e.strings.of(""), Type: GroupLocations}
	for i, l := range e.locations {
		if l.Main == i {
			mains[l.Rank] = uint64(len(world.Members))
			world.Members = append(world.Members, uint64(i))
		}
	}
	d.Groups = append(d.Groups, world)
	self, sides := uint32(Undefined), map[string]uint32{}
	for i := range e.trace.Communicators() {
		c := &e.trace.Communicators()[i]
		if c.GlobalName == "MPI_COMM_SELF" {
			if self == Undefined {
				self = uint32(len(d.Comms))
				d.Groups = append(d.Groups, Group{Name: e.strings.of(""), Type: GroupSelf})
				d.Comms = append(d.Comms, Comm{Name: e.strings.of(c.GlobalName), Group: uint32(len(d.Groups) - 1), Remote: Undefined, Parent: Undefined})
			}
			e.comms = append(e.comms, self)
			continue
		}
		if side, known := sides[c.GlobalName]; known && c.Remote.Len() > 0 {
			e.comms = append(e.comms, side) // each side of an intercommunicator has an instance
			continue
		}
		sides[c.GlobalName] = uint32(len(d.Comms))
		e.comms = append(e.comms, uint32(len(d.Comms)))
		name := c.Label
		if name == "" {
			name = c.GlobalName
		}
		comm := Comm{Name: e.strings.of(name), Group: e.group(c.Members, mains), Remote: Undefined, Parent: Undefined}
		if c.Remote.Len() > 0 {
			comm.Remote = e.group(c.Remote, mains)
		}
		d.Comms = append(d.Comms, comm)
	}
}

// group defines a group of ranks. Ranks that the trace lacks have no location and no index.
func (e *export) group(members trace.RankList, index map[int]uint64) uint32 {
	g := Group{Name: e.strings.of(""), Type: GroupRanks, Members: make([]uint64, 0, members.Len())}
	for i := range members.Len() {
		n, known := index[members.At(i)]
		if !known {
			n = 1<<64 - 1
		}
		g.Members = append(g.Members, n)
	}
	e.defined.Groups = append(e.defined.Groups, g)
	return uint32(len(e.defined.Groups) - 1)
}

// define completes the definitions after all events are written.
func (e *export) define() {
	d := &e.defined
	d.FirstNS = min(d.FirstNS, d.LengthNS)
	d.SiteName, d.SiteAbout = e.strings.of("Call site"), e.strings.of("where in the program the MPI call was made")
	d.MPIName = e.strings.of("MPI")
	d.IOName, d.IOID = e.strings.of("MPI-IO"), e.strings.of("MPI-IO")
	for child, parent := range e.parents {
		// OTF2 requires parents before their children. Where the trace has another order the parent
		// is omitted.
		if e.comms[parent] < e.comms[child] {
			d.Comms[e.comms[child]].Parent = e.comms[parent]
		}
	}
	e.defineTopologies()
	d.StartNS = e.realtime()
	d.Properties = append(d.Properties,
		Property{"CAIRN::TIMING", e.trace.Meta().Timing.String()},
		Property{"CAIRN::CAUSALITY", e.summary.Repairs.Text()},
		Property{"CAIRN::LEFT_OUT", fmt.Sprint(e.summary.LeftOut)})
	if text := e.summary.Extrapolated(); text != "" {
		d.Properties = append(d.Properties, Property{"CAIRN::EXTRAPOLATED", text})
	}
	for i, note := range e.trace.Meta().Notes {
		d.Properties = append(d.Properties, Property{fmt.Sprintf("CAIRN::NOTE_%d", i+1), note})
	}
	d.Strings = e.strings.list
}

// realtime returns the wall clock time of the archive's beginning, 2⁶⁴−1 if unknown.
func (e *export) realtime() uint64 {
	clocks := e.options.Clock.Clocks
	for row, r := range e.trace.Ranks().All() {
		if len(r.Clock.Samples) > 0 && (clocks == nil || row >= len(clocks.Of) || clocks.Of[row] == 0) {
			s := r.Clock.Samples[0]
			return e.defined.FirstNS + uint64(s.RealtimeNS+e.start-clocks.Time(row, s.MonotonicNS))
		}
	}
	return 1<<64 - 1
}

// defineTopologies defines the grids of communicators.
func (e *export) defineTopologies() {
	d := &e.defined
	for i := range e.trace.Communicators() {
		c := &e.trace.Communicators()[i]
		t := c.Topology
		if len(t.Dims) == 0 || len(t.Dims) > 255 {
			continue
		}
		one := Topology{Name: d.Comms[e.comms[i]].Name, Comm: e.comms[i]}
		for k, size := range t.Dims {
			one.Dims = append(one.Dims, Dimension{e.strings.of(fmt.Sprintf("dimension %d", k)), uint32(size), k < len(t.Periodic) && t.Periodic[k]})
		}
		for rank := range c.Members.Len() {
			at := make([]uint32, len(t.Dims))
			for k, rest := len(t.Dims)-1, rank; k >= 0; k-- { // row-major (MPI 4.0 §8.2)
				at[k], rest = uint32(rest%t.Dims[k]), rest/t.Dims[k]
			}
			one.Coordinates = append(one.Coordinates, at)
		}
		d.Topologies = append(d.Topologies, one)
	}
}
