package detail

// Limits of a Detail.
const (
	MaxCalls = 2000
	MaxRanks = 16
)

// A Detail is the calls of some ranks in a window of the run. Times are nanoseconds since the run
// began.
type Detail struct {
	FromNS   int64     `json:"from_ns"`
	ToNS     int64     `json:"to_ns"`
	Title    string    `json:"title"`    // what the window shows
	Ranks    []int     `json:"ranks"`    // at most 16, those that the verdict names first
	Calls    []Call    `json:"calls"`    // at most 2,000, rank by rank as in Ranks, each in order of time
	Messages []Message `json:"messages"` // messages with both calls in Calls, in order of their receipt
	Waits    []Wait    `json:"waits"`    // inside the calls; at most 2,000
}

// A Call is one call. It may begin before the window, or end after it.
type Call struct {
	Rank     int    `json:"rank"`
	Thread   int    `json:"thread"`
	Function string `json:"function"`
	CallSite string `json:"call_site"`
	BeginNS  int64  `json:"begin_ns"`
	EndNS    int64  `json:"end_ns"`
}

// A Message goes from the call that posted it to the one that completed its receive.
type Message struct {
	From       int   `json:"from"` // indices into Calls
	To         int   `json:"to"`
	SentNS     int64 `json:"sent_ns"`     // start of From
	ReceivedNS int64 `json:"received_ns"` // end of To
	Bytes      int64 `json:"bytes"`       // −1: not known
}

// A Wait is an interval of a call in which its rank waited for another.
type Wait struct {
	Rank    int    `json:"rank"`
	Thread  int    `json:"thread"`
	BeginNS int64  `json:"begin_ns"`
	EndNS   int64  `json:"end_ns"`
	Kind    string `json:"kind"`
	Cause   int    `json:"cause"` // the rank that was waited for
}
