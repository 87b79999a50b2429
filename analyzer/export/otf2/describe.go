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
	e.machine = uint32(len(d.Nodes))
	d.Nodes = append(d.Nodes, Node{Name: e.strings.of(d.Machine), Class: e.strings.of("machine"), Parent: Undefined, Machine: true})
	nodes, row := map[string]uint32{}, -1
	rank := e.trace.Ranks().Lookup()
	for i, l := range e.locations {
		r := rank(l.Row)
		if l.Row != row {
			row = l.Row
			d.Processes = append(d.Processes, e.processOf(l.Rank, &r, nodes))
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
func (e *export) processOf(number int, r *trace.Rank, nodes map[string]uint32) Process {
	where := r.Node
	if where == "" {
		where = r.Host
	}
	node, known := nodes[where]
	if !known {
		node = uint32(len(e.defined.Nodes))
		nodes[where] = node
		e.defined.Nodes = append(e.defined.Nodes, Node{Name: e.strings.of(where), Class: e.strings.of("node"), Parent: e.machine})
	}
	p := Process{Name: e.strings.of(fmt.Sprintf("MPI Rank %d", number)), Node: node}
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
	d.Groups = append(d.Groups, Group{Name: e.strings.of(""), Type: GroupLocations})
	for i, l := range e.locations {
		if l.Main == i {
			e.addMember(member{rank: l.Rank}, uint64(i))
		}
	}
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
		comm := Comm{Name: e.strings.of(name), Group: e.group(c.Members, world{comm: i, in: name}), Remote: Undefined, Parent: Undefined}
		if c.Remote.Len() > 0 {
			other := world{id: c.RemoteWorld}
			if other.id == "" {
				other = world{comm: i, in: "the remote group of " + name}
			}
			comm.Remote = e.group(c.Remote, other)
		}
		d.Comms = append(d.Comms, comm)
	}
}

// A member is a process that is in communicators.
type member struct {
	rank  int   // in the world, or among the members of a communicator that are of another world
	world world // zero for this one
}

// A world is another MPI world, if that is known, or that of some members of a communicator. A
// trace does not tell which of these are the same processes.
type world struct {
	id   string // "" if unknown
	comm int    // then the communicator, as in the trace
	in   string // and what of it: names need not be unique
}

// addMember adds a process's main location to the group of all ranks.
func (e *export) addMember(m member, location uint64) {
	all := &e.defined.Groups[0]
	e.members[m] = uint64(len(all.Members))
	all.Members = append(all.Members, location)
}

// group defines a group of ranks. A rank without calls, since it is not in the trace or of another
// world, gets a location without events: OTF2 has no group with an unknown member.
func (e *export) group(ranks trace.RankList, another world) uint32 {
	g := Group{Name: e.strings.of(""), Type: GroupRanks, Members: make([]uint64, 0, ranks.Len())}
	others := 0
	for i := range ranks.Len() {
		m := member{rank: ranks.At(i)}
		if m.rank < 0 {
			m = member{others, another}
			others++
		}
		if _, known := e.members[m]; !known {
			e.defineAbsent(m)
		}
		g.Members = append(g.Members, e.members[m])
	}
	e.defined.Groups = append(e.defined.Groups, g)
	return uint32(len(e.defined.Groups) - 1)
}

// defineAbsent defines a process of which the trace has no calls.
func (e *export) defineAbsent(m member) {
	d := &e.defined
	process, thread := fmt.Sprintf("MPI Rank %d", m.rank), fmt.Sprintf("Not in the trace:%d", m.rank)
	switch {
	case m.world.id != "":
		process = fmt.Sprintf("Rank %d of world %s", m.rank, m.world.id)
		thread = process
	case m.world.in != "":
		process = fmt.Sprintf("Rank %d of another world in %s", m.rank, m.world.in)
		thread = process
	}
	location := uint64(len(d.Locations))
	d.Locations = append(d.Locations, Location{ID: location, Name: e.strings.of(thread), Process: uint32(len(d.Processes))})
	d.Processes = append(d.Processes, Process{Name: e.strings.of(process), Node: e.machine})
	e.addMember(m, location)
}

// noEvents writes the empty file that readers expect of a location without events.
func (e *export) noEvents(location uint64) error {
	events, err := e.archive.Open(location)
	if err != nil {
		return err
	}
	return events.Close()
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
