package simulate

// Barrier is MPI_Barrier.
func (r *Rank) Barrier(comm *Comm) {
	enter := r.now
	r.meet(comm, WaitAtBarrier)
	r.record(idBarrier, enter, comm.raw)
}

// Allreduce is MPI_Allreduce with MPI_SUM.
func (r *Rank) Allreduce(comm *Comm, bytes int) {
	enter := r.now
	r.meet(comm, WaitAtNxN)
	r.record(idAllreduce, enter, rawBuffer, bytes, rawByte, rawSum, comm.raw, rawBuffer)
}

// Alltoall is MPI_Alltoall with the given bytes for each rank.
func (r *Rank) Alltoall(comm *Comm, bytes int) {
	enter := r.now
	r.meet(comm, WaitAtNxN)
	r.record(idAlltoall, enter, rawBuffer, bytes, rawByte, bytes, rawByte, comm.raw, rawBuffer)
}

// Bcast is MPI_Bcast.
func (r *Rank) Bcast(comm *Comm, root, bytes int) {
	enter := r.now
	r.now += r.sim.config.Model.Call
	if g := r.enter(comm, enter); g != nil {
		if comm.own == root {
			g.root, g.rootEntered = enter, true
			g.release(r.sim, enter+r.sim.config.Model.Collective)
		} else {
			if !g.rootEntered {
				g.wait(r)
			}
			r.now = max(r.now, g.root+r.sim.config.Model.Collective)
			r.blame(LateBroadcast, comm.worldRank(root), g.root-enter)
		}
	} else if comm.own != root {
		r.now = enter + r.sim.config.Model.Collective
	}
	r.record(idBcast, enter, rawBuffer, bytes, rawByte, root, comm.raw, rawBuffer)
}

// Reduce is MPI_Reduce with MPI_SUM.
func (r *Rank) Reduce(comm *Comm, root, bytes int) {
	enter := r.now
	r.now += r.sim.config.Model.Call
	switch g := r.enter(comm, enter); {
	case comm.own == root && g == nil:
		r.now = enter + r.sim.config.Model.Collective
	case comm.own == root:
		if g.entered < comm.size {
			g.wait(r)
		}
		r.now = max(r.now, g.latest+r.sim.config.Model.Collective)
		if comm.size > 1 {
			first := g.firstOther(r.rank)
			r.blame(EarlyReduce, first.rank, first.at-enter)
		}
	case g != nil && g.entered == comm.size:
		g.release(r.sim, g.latest+r.sim.config.Model.Collective)
	}
	r.record(idReduce, enter, rawBuffer, bytes, rawByte, rawSum, root, comm.raw, rawBuffer)
}

// Split is MPI_Comm_split. The program knows the members of the caller's new communicator and
// passes them.
func (r *Rank) Split(comm *Comm, color, key int, members []int) *Comm {
	enter := r.now
	nth := comm.collectives
	r.meet(comm, WaitAtNxN)
	child := &Comm{id: mix(comm.id, nth, uint64(members[0])), raw: rawFirstComm + r.raw.take(), size: len(members), members: members}
	child.own = child.rankOf(r.rank)
	r.record(idSplit, enter, comm.raw, color, key, child.raw, description{comm: child})
	return child
}

// CartCreate is MPI_Cart_create without reordering.
func (r *Rank) CartCreate(comm *Comm, g grid) *Comm {
	enter := r.now
	nth := comm.collectives
	r.meet(comm, WaitAtNxN)
	child := &Comm{id: mix(comm.id, nth), raw: rawFirstComm + r.raw.take(), size: comm.size, own: comm.own, members: comm.members}
	d := description{comm: child, extent: g.extent, at: g.coordinates(comm.own), periodic: g.periodic, cart: true}
	extent, periods := make(array, len(g.extent)), make(array, len(g.extent))
	for i, e := range g.extent {
		extent[i] = int64(e)
		if g.periodic {
			periods[i] = 1
		}
	}
	r.record(idCartCreate, enter, comm.raw, len(extent), extent, periods, 0, child.raw, d)
	return child
}

// CommFree is MPI_Comm_free. It does not wait.
func (r *Rank) CommFree(comm *Comm) {
	enter := r.now
	r.now += r.sim.config.Model.Call
	r.raw.give(comm.raw - rawFirstComm)
	r.record(idCommFree, enter, comm.raw, rawCommNull)
}

// initialize is MPI_Init.
func (r *Rank) initialize() {
	enter := r.now
	r.now += initTime
	r.record(idInit, enter, 1, array{}, 1, array{}, r.rank, r.sim.config.Ranks, 0, description{comm: r.world})
}

// initTime is the duration of MPI_Init in ns.
const initTime = 1_000_000

// finalize is MPI_Finalize.
func (r *Rank) finalize() {
	enter := r.now
	r.meet(r.world, WaitAtFinalize)
	r.record(idFinalize, enter)
}

// meet waits until all ranks of a communicator have entered the collective.
func (r *Rank) meet(comm *Comm, kind string) {
	enter := r.now
	g := r.enter(comm, enter)
	if g == nil {
		r.now = enter + r.sim.config.Model.Collective
		return
	}
	if g.entered < comm.size {
		g.wait(r)
	} else {
		g.release(r.sim, g.latest+r.sim.config.Model.Collective)
	}
	r.now = g.latest + r.sim.config.Model.Collective
	r.blame(kind, g.last, g.latest-enter)
}

// A collectiveInstance is a collective call of a communicator while its ranks enter it.
type collectiveInstance struct {
	entered     int
	latest      int64
	last        int      // the rank that entered last
	first       [2]entry // the two earliest
	root        int64
	rootEntered bool
	waiting     []*Rank
}

type entry struct {
	rank int
	at   int64
}

// An instanceKey identifies the nth collective of a communicator.
type instanceKey struct{ comm, nth uint64 }

// enter makes the rank enter the next collective of a communicator. It returns nil without the
// replay.
func (r *Rank) enter(comm *Comm, at int64) *collectiveInstance {
	key := instanceKey{comm.id, comm.collectives}
	comm.collectives++
	if r.yield == nil {
		return nil
	}
	g := r.sim.collectives[key]
	if g == nil {
		g = &collectiveInstance{latest: -1}
		r.sim.collectives[key] = g
	}
	g.entered++
	if at > g.latest || at == g.latest && r.rank < g.last {
		g.latest, g.last = at, r.rank
	}
	switch e := (entry{r.rank, at}); {
	case g.entered == 1 || at < g.first[0].at:
		g.first[0], g.first[1] = e, g.first[0]
	case g.entered == 2 || at < g.first[1].at:
		g.first[1] = e
	}
	if g.entered == comm.size {
		delete(r.sim.collectives, key)
	}
	return g
}

func (g *collectiveInstance) wait(r *Rank) {
	g.waiting = append(g.waiting, r)
	r.block()
}

// release lets the waiting ranks continue at a time.
func (g *collectiveInstance) release(s *Simulation, at int64) {
	for _, r := range g.waiting {
		s.events.push(event{at: max(at, r.now), kind: resumes, rank: r})
	}
	g.waiting = nil
}

// firstOther returns the earliest entry other than that of one rank.
func (g *collectiveInstance) firstOther(than int) entry {
	if g.first[0].rank == than {
		return g.first[1]
	}
	return g.first[0]
}
