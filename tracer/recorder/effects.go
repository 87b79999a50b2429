package recorder

import (
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/tracer/recorder/key"
)

// Levels of MPI_Pcontrol that matter to the recorder (DESIGN.md); the shim acts on them.
const (
	levelOff = 0
	levelOn  = 1
)

// applyEffects applies what a successful call changes beyond its handles.
func (r *Recorder) applyEffects(c *key.Call) {
	switch c.Effect {
	case semantics.Initialize:
		rank, size := c.Extras.Word(), c.Extras.Word()
		c.Extras.Word() // level of thread support
		if c.Extras.OK && r.setRank(rank, size) {
			r.objects.Start(&c.Extras)
		}
	case semantics.Finalize:
		r.finalized = true
	case semantics.SessionCreate:
		r.sessions++
		r.finalized = false
		rank, size := c.Extras.Word(), c.Extras.Word() // in the process set of the world
		if r.rank < 0 && c.Extras.OK && r.setRank(rank, size) {
			r.objects.SetRank(r.rank)
		}
	case semantics.SessionFree:
		r.sessions--
		r.finalized = r.finalized || r.sessions == 0
	case semantics.SetName:
		if comm, name := c.Name(); comm != nil {
			r.objects.Label(comm, name)
		}
	case semantics.CommunicatorCreate:
		r.addCommunicator(c)
	case semantics.Query:
		// a communicator to the world that spawned this one, new at the first such call
		if instance, ok := r.objects.AddParent(c.Parent(), &c.Extras); ok {
			c.AddInstance(instance)
		}
	case semantics.Control:
		switch c.Level() {
		case levelOff:
			r.off = true
			for _, t := range r.threads {
				t.untraced = true
			}
		case levelOn:
			r.off = false
		}
	}
}

// addCommunicator adds the communicator that a call created.
func (r *Recorder) addCommunicator(c *key.Call) {
	made := c.Creation()
	if r.keys.Generality() >= key.DropsArguments {
		made.ID = none // calls on it have no known own rank, so no earlier signature matches
	}
	if instance, ok := r.objects.AddCommunicator(made, &c.Extras); ok {
		c.AddInstance(instance)
		r.grew(key.SignatureBytes)
	}
}
