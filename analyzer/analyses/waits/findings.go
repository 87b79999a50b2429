package waits

// Findings are the wait states.
type Findings struct {
	// null if the times of single calls were not recorded
	WaitStates []WaitTime     `json:"wait_states" jsonschema:"nullable"`
	Waits      *WaitBreakdown `json:"waits"` // null if wait_states is
}

// WaitTime is the number and the total duration of waits in one pattern.
type WaitTime struct {
	Kind    string  `json:"kind"`
	PartOf  string  `json:"part_of,omitempty"` // the pattern whose numbers include these
	Count   int     `json:"count"`
	Seconds float64 `json:"seconds"`
	// UncertainSeconds is the part that rounded times may explain: for each wait the maximum error
	// of its start and end, or all of a shorter wait. 0 for lossless timing.
	UncertainSeconds float64 `json:"uncertain_seconds"`
}

// Uncertain reports whether rounded times may explain all of the waiting.
func (w *WaitTime) Uncertain() bool { return w.UncertainSeconds > 0 && w.UncertainSeconds >= w.Seconds }

// WaitBreakdown has wait states by waiting rank, by call site, and by the rank that was waited for:
// each list costliest first, at most 500 rows.
type WaitBreakdown struct {
	ByRank           []RankWait `json:"by_rank"`
	RanksOmitted     int        `json:"ranks_omitted"`
	ByCallSite       []SiteWait `json:"by_call_site"`
	CallSitesOmitted int        `json:"call_sites_omitted"`
	ByPair           []PairWait `json:"by_pair"`
	PairsOmitted     int        `json:"pairs_omitted"`
}

// RankWait is how one rank waited.
type RankWait struct {
	Rank    int     `json:"rank"`
	Kind    string  `json:"kind"`
	Count   int     `json:"count"`
	Seconds float64 `json:"seconds"`
}

// SiteWait is how ranks waited in a call.
type SiteWait struct {
	Kind     string  `json:"kind"`
	Function string  `json:"function"`
	CallSite string  `json:"call_site"`
	Count    int     `json:"count"`
	Seconds  float64 `json:"seconds"`
}

// PairWait is how one rank waited for another.
type PairWait struct {
	Rank    int     `json:"rank"`
	Cause   int     `json:"cause"`
	Kind    string  `json:"kind"`
	Count   int     `json:"count"`
	Seconds float64 `json:"seconds"`
}

func (w RankWait) key() (rank, cause int, text string) { return w.Rank, 0, w.Kind }

func (w SiteWait) key() (rank, cause int, text string) {
	return 0, 0, w.Kind + "\x00" + w.Function + "\x00" + w.CallSite
}

func (w PairWait) key() (rank, cause int, text string) { return w.Rank, w.Cause, w.Kind }
