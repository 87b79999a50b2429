package identity

import (
	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// Objects are the MPI objects of a process, and what its constants mean.
type Objects struct {
	Requests Requests
	communicators

	handles   [256]*handles  // by kind; nil for requests, and for kinds that are no handles
	constants [256]constants // by kind; empty for handles, and for kinds without named values
	sentinels [256]constants // by kind: addresses that replace an array

	root    uint64 // raw MPI_ROOT
	hasRoot bool

	generation uint64 // see Generation
}

// New returns the objects of a process that starts, which are those that named contains.
func New(named []record.Constant) *Objects {
	o := &Objects{Requests: newRequests()}
	o.communicators = newCommunicators(named, &o.generation)
	for _, kind := range mpi.Kinds() {
		if kind.IsHandle() && kind != mpi.KindRequest {
			o.handles[kind] = &handles{table: map[uint64]int32{}, generation: &o.generation}
		}
	}
	for i, c := range named {
		if kind, ok := mpi.KindByName(c.Kind); ok {
			o.define(kind, c, int32(-1-i))
		}
		if c.Name == "MPI_ROOT" {
			o.root, o.hasRoot = uint64(c.Value), true
		}
	}
	return o
}

// Generation counts the changes after which Known or Communicator may return other values.
func (o *Objects) Generation() uint64 { return o.generation }

// Constant returns the value of a word that is a constant of its kind, which is no handle.
func (o *Objects) Constant(kind mpi.Kind, word uint64) (int32, bool) {
	return o.constants[kind].lookup(word)
}

// Sentinel returns the value of an address that replaces an array of a kind.
func (o *Objects) Sentinel(kind mpi.Kind, word uint64) (int32, bool) {
	return o.sentinels[kind].lookup(word)
}

// AnyAddress reports whether the word of a buffer is an address without a meaning of its own
// (trace.Pointer).
func (o *Objects) AnyAddress(word uint64) bool {
	_, constant := o.Constant(mpi.KindBuffer, word)
	return !constant && word != 0 && !record.IsEntry(word) // the key has addresses of allocations
}

// Dense reports whether the objects of a kind have dense ids, that is, all but requests. The
// following methods are for these kinds.
func (o *Objects) Dense(kind mpi.Kind) bool { return o.handles[kind] != nil }

// Known returns the value of a handle; false if its creation was not seen.
func (o *Objects) Known(kind mpi.Kind, raw uint64) (int32, bool) {
	v, ok := o.handles[kind].table[raw]
	return v, ok
}

// Create returns the value of a handle that a call returned and that must be freed.
func (o *Objects) Create(kind mpi.Kind, raw uint64) int32 { return o.handles[kind].create(raw) }

// Free drops one reference to the object of a handle.
func (o *Objects) Free(kind mpi.Kind, raw uint64) {
	id := o.handles[kind].free(raw)
	if kind == mpi.KindComm {
		o.communicators.forget(id)
	}
}

// Communicator returns the communicator with a handle, nil for MPI_COMM_NULL and unknown ones. It
// is valid until one is created or freed.
func (o *Objects) Communicator(raw uint64) *Communicator {
	value, ok := o.Known(mpi.KindComm, raw)
	if !ok {
		return nil
	}
	return o.communicators.of(value)
}

// UseCommunicator is Communicator for a handle that was passed to a call. If its creation was not
// seen (an extension of the MPI library or another language's layer created it) it gets an id.
func (o *Objects) UseCommunicator(raw uint64) *Communicator {
	value, ok := o.Known(mpi.KindComm, raw)
	if !ok {
		value = o.Create(mpi.KindComm, raw)
	}
	return o.communicators.of(value)
}

// AddParent adds the communicator to the world that spawned this one, at the first call that
// returns it, and returns its instance; false if there is none.
func (o *Objects) AddParent(raw uint64, extras *record.Reader) (instance int32, ok bool) {
	value, ok := o.Known(mpi.KindComm, raw)
	if !ok || predefined(value) {
		return none, false
	}
	if o.communicators.of(value) == nil {
		parent, described := readDescription(extras)
		if !described {
			return none, false
		}
		o.communicators.add(value, int32(parent.own), parent.inter, parent.content(parentName))
	}
	return o.communicators.live[value].instance, true
}

// IsRoot reports whether the caller is the root of a rooted collective.
func (o *Objects) IsRoot(c *Communicator, root uint64) bool {
	if c.Inter {
		return o.hasRoot && int32(root) == int32(o.root)
	}
	return int32(root) == c.Own
}
