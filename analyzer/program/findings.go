package program

// SchemaVersion is the version of Findings.
const SchemaVersion = 2

// MaxShown is the maximum number of lines of a program that a report shows completely.
const MaxShown = 5000

// Findings are the program of a job.
type Findings struct {
	SchemaVersion int      `json:"schema_version"`
	Ranks         string   `json:"ranks"` // ranks in the trace
	Calls         uint64   `json:"calls"` // of all ranks
	Threads       []Thread `json:"threads"`
	Parts         []Part   `json:"parts"` // sequences used in several places that are too long to be repeated
	Notes         []string `json:"notes"`
	// Exact: every argument of every call is included (Parameter.Exact), and no line and no trip
	// count is omitted.
	Exact bool `json:"exact"`
	// Numberings are the arguments of functions other than the rank in MPI_COMM_WORLD. Streams are
	// the values of arguments that vary from call to call without a cycle.
	Numberings []Numbering `json:"numberings,omitempty"`
	Streams    []Stream    `json:"streams,omitempty"`
	// MaxLines is the number of lines after which the program was cut off, if it was.
	MaxLines int `json:"max_lines,omitempty"`
}

// A Thread is the programs of all threads with a role (timeline.Roles); 0 is the first thread of
// each rank.
type Thread struct {
	Thread    int    `json:"thread"`
	Ranks     string `json:"ranks"`
	Sequences int    `json:"sequences"` // number of different sequences of calls
	// Programs are the different sequences, disregarding arguments, trip counts, and calls to
	// neighbors that a rank lacks; that of most ranks first.
	Programs []Program `json:"programs"`
	Body     []Node    `json:"body"`
}

// A Program is a set of ranks that make the same calls at the same call sites in the same loops,
// except for calls to neighbors that they lack.
type Program struct {
	Ranks string `json:"ranks"`
	// Without are calls of the first program that these ranks do not make there; With are their
	// additional calls. A call may be in both: in another loop, or in another order.
	Without []CallAt `json:"without,omitempty"`
	With    []CallAt `json:"with,omitempty"`
}

// A CallAt is a function at a call site.
type CallAt struct {
	Function string `json:"function"`
	CallSite string `json:"call_site,omitempty"`
}

// A Part is a numbered sequence of calls of the threads with a number.
type Part struct {
	Part   int    `json:"part"`
	Thread int    `json:"thread"`
	Ranks  string `json:"ranks"`
	Body   []Node `json:"body"`
}

// A Node is a call, a loop, or a Part by its number.
type Node struct {
	// Ranks that have the node; omitted if they are those of the enclosing node.
	Ranks string `json:"ranks,omitempty"`
	// Trips are the iterations of a loop, or how often a call is made in a row; omitted for a
	// single call.
	Trips      []Trips     `json:"trips,omitempty"`
	Function   string      `json:"function,omitempty"`
	CallSite   string      `json:"call_site,omitempty"`
	Parameters []Parameter `json:"parameters,omitempty"`
	Part       int         `json:"part,omitempty"`
	Body       []Node      `json:"body,omitempty"`
	// Omitted is the number of nodes left out from here on; such a node has no other content.
	Omitted int `json:"omitted,omitempty"`
}

// Trips are the numbers of executions of a node, for each time that it is reached.
type Trips struct {
	// Text is "100", "3, 4, …, 102", "1 in iterations 0-98 step 2".
	Text    string `json:"text"`
	Summary bool   `json:"summary,omitempty"` // Text is abridged
	// Cycle has one number for each time that the node is reached, and is repeated from the
	// beginning; without Options.Exact, it has at most 64.
	Cycle   []uint64 `json:"cycle,omitempty"`
	Omitted int      `json:"cycle_omitted,omitempty"` // further numbers
	// Count replaces Cycle if each rank has its own constant number: it is a function of the rank.
	Count *Term  `json:"count,omitempty"`
	Ranks string `json:"ranks,omitempty"` // ranks with these trips; omitted: all that have the node
}

// A Parameter is an argument or result of a call.
type Parameter struct {
	Name   string  `json:"name"`
	Result bool    `json:"result,omitempty"` // an output of the call
	Values []Value `json:"values"`
	// Exact has every value of an argument; omitted for results, and without Options.Exact.
	Exact []Exact `json:"exact,omitempty"`
}

// A Value is the value of an argument on some ranks.
type Value struct {
	// Text is the value: "4", "MPI_DOUBLE"; or a function of the caller's rank in the communicator
	// of the call: "rank+1", "(rank+1) mod 8", "rank XOR 1", "coordinates(+0, -1) of 4x4"; or the
	// values from call to call: "6 (3 times), 7 in turn", "varies (8 to 4096, 17 values)"; or
	// "differs by rank (0 to 225, 16 values)".
	Text  string `json:"text"`
	Ranks string `json:"ranks,omitempty"` // omitted: all that make the call
	// Summary: Text is only a summary.
	Summary bool `json:"summary,omitempty"`
}
