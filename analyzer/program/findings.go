package program

// SchemaVersion is that of Findings.
const SchemaVersion = 2

// MaxShown is after how many lines a program ends in findings that a report shows whole.
const MaxShown = 5000

// Findings are the program of a job.
type Findings struct {
	SchemaVersion int      `json:"schema_version"`
	Ranks         string   `json:"ranks"` // that the trace has
	Calls         uint64   `json:"calls"` // of all ranks
	Threads       []Thread `json:"threads"`
	Parts         []Part   `json:"parts"` // sequences that several places share, too long to stand there
	Notes         []string `json:"notes"`
	// Exact: every argument of every call is there (Parameter.Exact), and no line and no trip count is left out.
	Exact bool `json:"exact"`
	// Numberings are what functions are of besides the rank in MPI_COMM_WORLD, Streams what arguments are from call to call
	// where that is no cycle.
	Numberings []Numbering `json:"numberings,omitempty"`
	Streams    []Stream    `json:"streams,omitempty"`
	// MaxLines is after how many lines the program ends, where there would be more.
	MaxLines int `json:"max_lines,omitempty"`
}

// A Thread is what the threads of this number do: 0 is the first of each rank.
type Thread struct {
	Thread    int    `json:"thread"`
	Ranks     string `json:"ranks"`
	Sequences int    `json:"sequences"` // how many different sequences of calls there are
	// Programs are the sequences but for arguments, trip counts, and calls to neighbors that a rank lacks; that of most ranks
	// first.
	Programs []Program `json:"programs"`
	Body     []Node    `json:"body"`
}

// A Program is ranks that make the same calls at the same call sites in the same loops, as far as they have the neighbors.
type Program struct {
	Ranks string `json:"ranks"`
	// Without are calls of the first program that these ranks do not make there, With are those that they make besides. A
	// call may be in both: in another loop, or in another order.
	Without []CallAt `json:"without,omitempty"`
	With    []CallAt `json:"with,omitempty"`
}

// A CallAt is a function at a call site.
type CallAt struct {
	Function string `json:"function"`
	CallSite string `json:"call_site,omitempty"`
}

// A Part is a sequence of calls with a number, as the threads with a number make it.
type Part struct {
	Part   int    `json:"part"`
	Thread int    `json:"thread"`
	Ranks  string `json:"ranks"`
	Body   []Node `json:"body"`
}

// A Node is a call, a loop, or a Part by its number.
type Node struct {
	// Ranks that have it; left out where those are all that the node around has.
	Ranks string `json:"ranks,omitempty"`
	// Trips say how often it comes: of a loop the iterations; of a call, left out where it is once.
	Trips      []Trips     `json:"trips,omitempty"`
	Function   string      `json:"function,omitempty"`
	CallSite   string      `json:"call_site,omitempty"`
	Parameters []Parameter `json:"parameters,omitempty"`
	Part       int         `json:"part,omitempty"`
	Body       []Node      `json:"body,omitempty"`
	// Omitted is how many nodes are left out from here on; the node is nothing else then.
	Omitted int `json:"omitted,omitempty"`
}

// Trips are how often something is executed, each time that it is come to.
type Trips struct {
	// Text is "100", "3, 4, …, 102", "1 in iterations 0-98 step 2".
	Text    string `json:"text"`
	Summary bool   `json:"summary,omitempty"` // Text leaves some out
	// Cycle are the numbers, one for each time that it is come to, and then again from the beginning; at most 64 of them
	// without Options.Exact.
	Cycle   []uint64 `json:"cycle,omitempty"`
	Omitted int      `json:"cycle_omitted,omitempty"` // numbers beyond
	// Count is there instead of Cycle where each rank has a number of its own, the same each time: a function of the rank.
	Count *Term  `json:"count,omitempty"`
	Ranks string `json:"ranks,omitempty"` // whose they are; left out: all that the node has
}

// A Parameter is an argument or result of a call.
type Parameter struct {
	Name   string  `json:"name"`
	Result bool    `json:"result,omitempty"` // given by the call
	Values []Value `json:"values"`
	// Exact has every value of an argument; left out for results, and without Options.Exact.
	Exact []Exact `json:"exact,omitempty"`
}

// A Value is what an argument is on some ranks.
type Value struct {
	// Text is the value: "4", "MPI_DOUBLE"; a function of the caller's rank in the communicator of the call: "rank+1",
	// "(rank+1) mod 8", "rank XOR 1", "coordinates(+0, -1) of 4x4"; what it is from call to call: "6 (3 times), 7 in turn",
	// "varies (8 to 4096, 17 values)"; or "differs by rank (0 to 225, 16 values)".
	Text  string `json:"text"`
	Ranks string `json:"ranks,omitempty"` // left out: all that make the call
	// Summary: Text only sums up what there is.
	Summary bool `json:"summary,omitempty"`
}
