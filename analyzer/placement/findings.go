package placement

// SchemaVersion is the version of Findings.
const SchemaVersion = 1

// Findings are the present and the proposed placement of ranks. Bytes and messages are those of
// point-to-point calls.
type Findings struct {
	SchemaVersion int    `json:"schema_version"`
	Nodes         []Node `json:"nodes"`
	Bytes         uint64 `json:"bytes"`
	Messages      uint64 `json:"messages"`
	// Crossing is the present traffic between nodes, Predicted that with the ranks in Order.
	Crossing          uint64 `json:"crossing_bytes"`
	CrossingMessages  uint64 `json:"crossing_messages"`
	Predicted         uint64 `json:"predicted_crossing_bytes"`
	PredictedMessages uint64 `json:"predicted_crossing_messages"`
	// Order is a permutation: rank i should run where rank Order[i] runs now. Empty if the present
	// order is as good.
	Order []int `json:"order"`
	// Proposed are the nodes with their ranks in this order.
	Proposed []Node `json:"proposed"`
	// Gain is the fraction of the run time that the order would save by the replay, with the
	// parameters in Assumes; null if it was not replayed.
	Gain    *float64 `json:"gain"`
	Assumes string   `json:"assumes"`
	Text    string   `json:"text"` // a sentence
}

// A Node is a node with its ranks.
type Node struct {
	Name  string `json:"name"` // name of the Kubernetes node, otherwise of the host
	Ranks string `json:"ranks"`
}
