package otf2

// Definitions are what events refer to. All references are indices into these lists; Undefined is
// none.
type Definitions struct {
	// Events have times from FirstNS to LengthNS. StartNS is CLOCK_REALTIME at FirstNS, 2⁶⁴−1 if
	// unknown.
	FirstNS, LengthNS, StartNS uint64
	Machine                    string // name of the system that the job ran on
	Creator                    string
	Description                string
	Properties                 []Property // of the archive

	Strings    []string
	Nodes      []Node
	Processes  []Process
	Locations  []Location
	Regions    []Region
	Groups     []Group
	Comms      []Comm
	Windows    []Window
	Files      []uint32 // names
	Handles    []Handle
	Topologies []Topology
	SiteName   uint32 // name and description of the attribute for the call site of an MPI call
	SiteAbout  uint32
	MPIName    uint32
	IOName     uint32
	IOID       uint32
}

// A Property is a name, CAIRN::SOMETHING, and a value.
type Property struct{ Name, Value string }

// A Node is a node of the tree of hardware.
type Node struct {
	Name, Class, Parent uint32
	Machine             bool // the whole system; otherwise a shared-memory node
}

// A Process is one rank, on a node.
type Process struct {
	Name, Node uint32
	Properties []NamedString
}

// A NamedString is a property of a process; both are strings.
type NamedString struct{ Name, Value uint32 }

// A Location is a thread of a process.
type Location struct {
	ID      uint64
	Name    uint32
	Process uint32
	Events  uint64
}

// A Region is a function.
type Region struct {
	Name, File uint32
	Role       Role
	Paradigm   Paradigm
	Line       uint32 // 0: unknown
}

// A Group is a set of locations or ranks.
type Group struct {
	Name    uint32
	Type    GroupType
	Members []uint64
}

// A Comm is a communicator. Of an intercommunicator Remote is the other group.
type Comm struct {
	Name, Group, Remote, Parent uint32
}

// A Window is an MPI window.
type Window struct {
	Name, Comm uint32
	Before     bool // it was created before the archive begins: it has no creation event
}

// A Handle is a file opened on a communicator.
type Handle struct {
	Name, File, Comm uint32
	Before           bool // like Window.Before; Mode and Status are those at its opening
	Mode             uint8
	Status           uint32
}

// A Topology is a grid of processes.
type Topology struct {
	Name, Comm  uint32
	Dims        []Dimension
	Coordinates [][]uint32 // by rank of the communicator
}

// A Dimension is a dimension of a grid.
type Dimension struct {
	Name, Size uint32
	Periodic   bool
}

// table numbers strings.
type table struct {
	list  []string
	known map[string]uint32
}

// of returns the number of a string.
func (t *table) of(s string) uint32 {
	n, known := t.known[s]
	if !known {
		if t.known == nil {
			t.known = map[string]uint32{}
		}
		n = uint32(len(t.list))
		t.list = append(t.list, s)
		t.known[s] = n
	}
	return n
}
