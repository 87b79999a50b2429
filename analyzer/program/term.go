package program

// An Exact is what an argument is in every call, on some ranks.
type Exact struct {
	Ranks string `json:"ranks,omitempty"` // left out: all that make the call
	// Cycle says what it is from one time to the next that a rank makes the call here, and then again from the beginning.
	Cycle []Turn `json:"cycle"`
}

// A Turn is what an argument is so many times in a row.
type Turn struct {
	Times int    `json:"times"`
	Terms []Term `json:"terms"` // one of them is the rank's: the one whose Ranks have it
}

// A Term is an argument. One of the fields from Number on is set; none: it is a pointer, or not significant on these ranks.
type Term struct {
	Ranks  string `json:"ranks,omitempty"` // left out: all that the turn is of
	Number *int64 `json:"number,omitempty"`
	Step   int64  `json:"step,omitempty"` // added to Number each further time of the turn
	// Text is a name of MPI, a handle ("comm#3"), a string, or a function of the program.
	Text     *string   `json:"text,omitempty"`
	Float    *float64  `json:"float,omitempty"`
	Null     bool      `json:"null,omitempty"`
	List     []Term    `json:"list,omitzero"` // elements of an array
	Function *Function `json:"function,omitempty"`
	ByRank   *Table    `json:"by_rank,omitempty"`
	// Stream is the next value of the rank's stream of this number: of its calls in order, those that name it take one each.
	Stream *int `json:"stream,omitempty"`
}

// A Table has a number for each of some ranks.
type Table struct {
	Ranks  string        `json:"ranks"`
	Values []Progression `json:"values"` // one after the other, in the order of ranks
}

// A Progression is so many numbers, each greater by Step than the one before.
type Progression struct {
	First int64 `json:"first"`
	Step  int64 `json:"step,omitempty"`
	Count int   `json:"count"`
}

// A Numbering gives ranks other numbers than that in MPI_COMM_WORLD: those in another communicator, or coordinates.
type Numbering struct {
	Name  string `json:"name"` // "rank", or of a coordinate
	Table Table  `json:"table"`
}

// A Stream is what an argument is in one call after the other, on some ranks.
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
