package eventlog

import "github.com/cairn-mpi/cairn/analyzer/match"

// heldUp notes whom a participant waited for in the middle of a collective, as package waitstate
// finds out. It would take that time for itself otherwise, whatever else changes.
func (r *Recorder) heldUp(c *match.Collective, part int) {
	cause, held := r.trees.Held(c, part)
	if !held {
		return
	}
	done := c.Parts[part].Done
	r.late = cause.Late(c, part, r.late[:0])
	for _, l := range r.late {
		p := &c.Parts[l.Part]
		r.depend(done, dependency{kind: onEntry, at: p.Post.Enter, on: p.Entered, hops: int32(l.Hops)})
	}
}
