package section

// Provenance describes what the report is about and how it was made.
type Provenance struct {
	Job          string `json:"job"` // namespace/name, "" outside Kubernetes
	UID          string `json:"uid"`
	Attempt      int    `json:"attempt"`
	Run          int    `json:"run"`
	World        string `json:"world"`
	Ranks        int    `json:"ranks"` // size of the world
	MissingRanks string `json:"missing_ranks"`
	EndedEarly   string `json:"ended_early"` // ranks
	// TracingStopped are the ranks whose later calls were not recorded; omitted if there are none.
	TracingStopped string `json:"tracing_stopped,omitempty"`
	Pods           []Host `json:"pods"` // or hosts, outside Kubernetes
	Executable     string `json:"executable"`
	Implementation string `json:"implementation"`
	Version        string `json:"version"`
	Start          string `json:"start"` // RFC 3339, UTC
	Calls          uint64 `json:"calls"`
	Dropped        uint64 `json:"dropped_records"`
	Timing         string `json:"timing"`
	CallSites      string `json:"call_sites"`
	// cost and benefit of clustering the ranks at run time; "" if they were not clustered
	Clustering string `json:"clustering"`
	TracedBy   string `json:"traced_by"`   // version of Cairn
	AnalyzedBy string `json:"analyzed_by"` // version of Cairn
	TraceURI   string `json:"trace_uri"`
}

// A Host is a pod, or a host outside Kubernetes, and the ranks that it ran.
type Host struct {
	Pod   string `json:"pod"`
	Node  string `json:"node"`
	Host  string `json:"host"`
	Image string `json:"image"` // of the application's container; "" outside Kubernetes
	Ranks string `json:"ranks"`
}
