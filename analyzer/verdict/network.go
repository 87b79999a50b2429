package verdict

// network is about messages between nodes.
type network struct{ calls }

func (network) charge() Charge { return Charge{Row: RowMessages} }

func (c network) sentence() string { return c.costly("messages between nodes", "messages") }

func (c network) short() string { return c.mostOfAll("messages between nodes") }

func (c network) advice(Neighbors) []string {
	step := "Put ranks that exchange much data on one node (see Placement), and check that the library uses the fast network (UCX_TLS, btl, fabric)."
	switch {
	case c.PieceBytes > 0:
		step += " " + c.contiguous()
	case c.Form == TooMany:
		step += " Send fewer and larger messages."
	case c.Form == TooLarge:
		step += " " + c.overlap()
	case c.Form == NoOverlap:
		step += " " + c.progress()
	}
	return c.adviseRetransmits(step)
}
