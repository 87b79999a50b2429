package placement

// SchemaVersion is that of Findings.
const SchemaVersion = 1

// Findings are about where ranks are and where they should be. Bytes and messages are those of point-to-point calls.
type Findings struct {
	SchemaVersion int    `json:"schema_version"`
	Nodes         []Node `json:"nodes"`
	Bytes         uint64 `json:"bytes"`
	Messages      uint64 `json:"messages"`
	// Crossing is what goes from one node to another now, Predicted what would with the ranks in Order.
	Crossing          uint64 `json:"crossing_bytes"`
	CrossingMessages  uint64 `json:"crossing_messages"`
	Predicted         uint64 `json:"predicted_crossing_bytes"`
	PredictedMessages uint64 `json:"predicted_crossing_messages"`
	// Order is a permutation: rank i should run where rank Order[i] runs now. Empty if the present order is as good.
	Order []int `json:"order"`
	// Proposed are the nodes with their ranks in this order.
	Proposed []Node `json:"proposed"`
	// Gain is the part of the run time that the order would save by the replay, with the parameters in Assumes; null
	// where it was not played.
	Gain    *float64 `json:"gain"`
	Assumes string   `json:"assumes"`
	Text    string   `json:"text"` // a sentence
}

// A Node is where ranks run.
type Node struct {
	Name  string `json:"name"` // of the Kubernetes node, else the host
	Ranks string `json:"ranks"`
}
