package eventlog

import "github.com/cairn-mpi/cairn/analyzer/match"

// treeDependencies adds the dependencies on participants that a call waited for in the middle of a
// collective, as package waitstate determines them. Without them the wait would count as the call's
// own cost.
func (r *Recorder) treeDependencies(c *match.Collective, part int) {
	cause, found := r.trees.CauseOf(c, part)
	if !found {
		return
	}
	done := c.Parts[part].Done
	r.late = cause.Late(c, part, r.late[:0])
	for _, l := range r.late {
		p := &c.Parts[l.Part]
		r.depend(done, dependency{kind: onEntry, at: p.Post.Enter, on: p.Entered, hops: int32(l.Hops)})
	}
}
