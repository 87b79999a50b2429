package semantics

// A Role is the purpose of a parameter.
type Role uint8

// Roles. In an exchange, a role without a side in its name is the sender's (or the only one).
const (
	NoRole Role = iota

	Buffer // of data
	Communicator
	Window
	File
	Group
	SecondGroup
	Message
	Request // or a list of them
	RequestCount
	Status // or a list of them
	Flag
	Index    // of the requests that were completed: one or a list
	OutCount // the number of these requests

	Destination
	Source
	Root
	Target // of a one-sided access or a lock
	Tag
	ReceiveTag

	Count // of elements: one or a list
	ReceiveCount
	TargetCount
	Datatype // or a list
	ReceiveDatatype
	TargetDatatype
	Operator // of a reduction
	Displacements
	ReceiveDisplacements
	TargetDisplacement
	Partitions    // the number of parts of a message; Count is that of one part
	Partition     // the first one, or a list
	LastPartition // of a range

	FileName
	AccessMode // of a file
	Offset     // in a file
	Whence     // what an offset is relative to

	Color
	Key
	LockType
	Name // given to an object
	PortName
	Level // of MPI_Pcontrol

	// Of graphs.
	GraphSources
	GraphDestinations
	GraphDegrees
	GraphIndex
	GraphEdges

	// Of constructors of datatypes.
	OldDatatype
	OldDatatypes
	BlockLength
	BlockLengths
	Stride
	TypeDisplacements
	LowerBound
	Extent
	Dimensions // number of dimensions
	Sizes      // of the whole array
	Subsizes
	Starts
	Order
	GridRank // in the grid of processes
	Grid
	Distributions
	DistributionArguments
	Digits
	ExponentRange

	numRoles
)

// Positions has the position of the argument with each role, or −1.
type Positions [numRoles]int8

// maxPositions is the largest supported position: no function of MPI has a quarter as many
// parameters.
const maxPositions = 127

// assign determines the roles of the parameters. If several have the same role, the first one
// counts.
func (f *Function) assign(parameters []Parameter) {
	for r := range f.In {
		f.In[r], f.Out[r] = -1, -1
	}
	f.Roles = make([]Role, len(parameters))
	requests := false
	for i := range parameters {
		requests = requests || parameters[i].Kind == "request" && parameters[i].List
	}
	in, out := 0, 0
	for i := range parameters {
		p := &parameters[i]
		role := f.role(p, requests)
		f.Roles[i] = role
		if p.In {
			if role != NoRole && f.In[role] < 0 && in < maxPositions {
				f.In[role] = int8(in)
			}
			in++
		}
		if p.Out {
			if role != NoRole && f.Out[role] < 0 && out < maxPositions {
				f.Out[role] = int8(out)
			}
			out++
		}
	}
}

// role returns the role of a parameter. requests is true if the function has a list of requests.
func (f *Function) role(p *Parameter, requests bool) Role {
	switch p.Kind {
	case "buffer":
		return Buffer
	case "comm":
		return unless(p.List, Communicator)
	case "win":
		return Window
	case "file":
		return File
	case "message":
		return Message
	case "request":
		return Request
	case "status":
		return Status
	case "bool":
		return unless(p.List || !p.Out, Flag)
	case "index":
		return Index
	case "op":
		return Operator
	case "root":
		return Root
	case "lock-type":
		return LockType
	case "access-mode":
		return unless(!p.In, AccessMode)
	case "offset":
		return unless(!p.In, Offset)
	case "whence":
		return Whence
	case "color":
		return Color
	case "key":
		return Key
	case "tag":
		if p.Name == "recvtag" {
			return ReceiveTag
		}
		return Tag
	case "group":
		if p.Name == "group2" || p.Name == "remote_group" {
			return SecondGroup
		}
		return Group
	case "partition":
		if p.Name == "partition_high" {
			return LastPartition
		}
		return Partition
	case "rank":
		return f.rankRole(p)
	case "string":
		return f.textRole(p)
	case "datatype":
		return datatypeRole(p.Name)
	}
	if requests && (p.Name == "count" || p.Name == "incount") {
		return RequestCount
	}
	return f.numberRole(p)
}

func unless(not bool, r Role) Role {
	if not {
		return NoRole
	}
	return r
}

func (f *Function) rankRole(p *Parameter) Role {
	switch p.Name {
	case "dest":
		return Destination
	case "source":
		return Source
	case "target_rank":
		return Target
	case "rank":
		if f.Operation == WindowSynchronize {
			return Target
		}
	case "sources":
		return GraphSources
	case "destinations":
		return GraphDestinations
	case "edges":
		return GraphEdges
	}
	return f.numberRole(p)
}

func (f *Function) textRole(p *Parameter) Role {
	switch {
	case f.Operation == SetName:
		return Name
	case p.Name == "filename":
		return FileName
	}
	return unless(p.Name != "port_name", PortName)
}

func datatypeRole(name string) Role {
	switch name {
	case "datatype", "sendtype", "sendtypes", "origin_datatype", "newtype":
		return Datatype
	case "recvtype", "recvtypes", "result_datatype":
		return ReceiveDatatype
	case "target_datatype":
		return TargetDatatype
	case "oldtype":
		return OldDatatype
	case "array_of_types":
		return OldDatatypes
	}
	return NoRole
}

// numberRole returns the role of a parameter that is determined by its name rather than its kind.
func (f *Function) numberRole(p *Parameter) Role {
	switch p.Name {
	case "count", "sendcount", "sendcounts", "origin_count":
		return Count
	case "recvcount", "recvcounts", "result_count":
		return ReceiveCount
	case "target_count":
		return TargetCount
	case "displs", "sdispls":
		return Displacements
	case "rdispls":
		return ReceiveDisplacements
	case "target_disp":
		return TargetDisplacement
	case "partitions":
		return Partitions
	case "outcount":
		return OutCount
	case "level":
		return unless(f.Operation != Control, Level)
	case "degrees":
		return GraphDegrees
	case "index":
		return unless(!p.List, GraphIndex)
	}
	if f.Operation == DatatypeCreate {
		return constructorRole(p.Name)
	}
	return NoRole
}

func constructorRole(name string) Role {
	switch name {
	case "blocklength":
		return BlockLength
	case "array_of_blocklengths":
		return BlockLengths
	case "stride":
		return Stride
	case "array_of_displacements":
		return TypeDisplacements
	case "lb":
		return LowerBound
	case "extent":
		return Extent
	case "ndims":
		return Dimensions
	case "array_of_sizes", "array_of_gsizes":
		return Sizes
	case "array_of_subsizes":
		return Subsizes
	case "array_of_starts":
		return Starts
	case "order":
		return Order
	case "rank":
		return GridRank
	case "array_of_psizes":
		return Grid
	case "array_of_distribs":
		return Distributions
	case "array_of_dargs":
		return DistributionArguments
	case "p":
		return Digits
	case "r":
		return ExponentRange
	}
	return NoRole
}
