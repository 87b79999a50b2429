package verdict

// network is about messages between nodes.
type network struct{ calls }

func (c network) sentence() string { return c.costly("messages between nodes", "messages") }

func (c network) short() string { return c.mostOfAll("messages between nodes") }

func (c network) advice(Neighbors) []string {
	step := "Put ranks that exchange much data on one node (see Placement), and check that the library uses the fast network (UCX_TLS, btl, fabric)."
	switch c.Form {
	case TooMany:
		step += " Send fewer and larger messages."
	case TooLarge:
		step += " " + c.overlap()
	case NoOverlap:
		step += " " + c.progress()
	}
	return c.adviseRetransmits(step)
}
