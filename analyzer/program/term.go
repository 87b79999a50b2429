package program

// An Exact is the value of an argument in every call, on some ranks.
type Exact struct {
	Ranks string `json:"ranks,omitempty"` // omitted: all that make the call
	// Cycle has the values from one call of a rank to the next, and is repeated from the beginning.
	Cycle []Turn `json:"cycle"`
}

// A Turn is the value of an argument in a number of successive calls.
type Turn struct {
	Times int    `json:"times"`
	Terms []Term `json:"terms"` // the rank's term is the one whose Ranks have it
}

// A Term is the value of an argument. One of the fields from Number on is set; none: it is a
// pointer, or not significant on these ranks.
type Term struct {
	Ranks  string `json:"ranks,omitempty"` // omitted: all of the turn
	Number *int64 `json:"number,omitempty"`
	Step   int64  `json:"step,omitempty"` // added to Number for each further call of the turn
	// Text is a name of MPI, a handle ("comm#3"), a string, or a function of the program.
	Text     *string   `json:"text,omitempty"`
	Float    *float64  `json:"float,omitempty"`
	Null     bool      `json:"null,omitempty"`
	List     []Term    `json:"list,omitzero"` // elements of an array
	Function *Function `json:"function,omitempty"`
	ByRank   *Table    `json:"by_rank,omitempty"`
	// Stream is the next value of the rank's stream with this number: the rank's calls that name it
	// take one value each, in order.
	Stream *int `json:"stream,omitempty"`
}

// A Table has a number for each of some ranks.
type Table struct {
	Ranks  string        `json:"ranks"`
	Values []Progression `json:"values"` // consecutive, in the order of ranks
}

// A Progression is Count numbers, each greater by Step than the one before.
type Progression struct {
	First int64 `json:"first"`
	Step  int64 `json:"step,omitempty"`
	Count int   `json:"count"`
}

// A Numbering numbers ranks otherwise than MPI_COMM_WORLD: by the rank in another communicator, or
// by a coordinate.
type Numbering struct {
	Name  string `json:"name"` // "rank", or the name of a coordinate
	Table Table  `json:"table"`
}

// A Stream is the values of an argument in successive calls, on some ranks.
type Stream struct {
	Stream int    `json:"stream"`
	Thread int    `json:"thread"`
	Ranks  string `json:"ranks"`
	Turns  []Turn `json:"turns"`
}

// A Coordinate is a number that ranks have in a topology.
type Coordinate struct {
	Name string // "row", "x"
	Of   []int  // by rank in MPI_COMM_WORLD; −1: none
}
