package simulate

// Send is MPI_Send.
func (r *Rank) Send(comm *Comm, dest, tag, bytes int) {
	r.blockingSend(idSend, comm, dest, tag, bytes, false)
}

// Ssend is MPI_Ssend.
func (r *Rank) Ssend(comm *Comm, dest, tag, bytes int) {
	r.blockingSend(idSsend, comm, dest, tag, bytes, true)
}

func (r *Rank) blockingSend(function uint16, comm *Comm, dest, tag, bytes int, synchronous bool) {
	enter := r.now
	q := r.send(comm, dest, tag, bytes, enter, synchronous)
	r.await(true, q)
	r.leave(enter, q)
	r.record(function, enter, rawBuffer, bytes, rawByte, dest, tag, comm.raw)
}

// Recv is MPI_Recv.
func (r *Rank) Recv(comm *Comm, source, tag, bytes int) Status {
	enter := r.now
	q := r.receive(comm, source, tag, bytes, enter)
	r.await(true, q)
	r.leave(enter, q)
	r.record(idRecv, enter, bytes, rawByte, source, tag, comm.raw, rawBuffer, q.status)
	return q.status
}

// Sendrecv is MPI_Sendrecv.
func (r *Rank) Sendrecv(comm *Comm, dest, sendTag, bytes, source, receiveTag int) Status {
	enter := r.now
	in := r.receive(comm, source, receiveTag, bytes, enter)
	out := r.send(comm, dest, sendTag, bytes, enter, false)
	r.await(true, in, out)
	r.leave(enter, in, out)
	r.record(idSendrecv, enter, rawBuffer, bytes, rawByte, dest, sendTag, bytes, rawByte, source, receiveTag, comm.raw,
		rawBuffer, in.status)
	return in.status
}

// Isend is MPI_Isend.
func (r *Rank) Isend(comm *Comm, dest, tag, bytes int) *Request {
	enter := r.now
	q := r.send(comm, dest, tag, bytes, enter, false)
	q.raw = rawFirstHandle + r.raw.take()
	r.leave(enter)
	r.record(idIsend, enter, rawBuffer, bytes, rawByte, dest, tag, comm.raw, q.raw)
	return q
}

// Irecv is MPI_Irecv.
func (r *Rank) Irecv(comm *Comm, source, tag, bytes int) *Request {
	enter := r.now
	q := r.receive(comm, source, tag, bytes, enter)
	q.raw = rawFirstHandle + r.raw.take()
	r.leave(enter)
	r.record(idIrecv, enter, bytes, rawByte, source, tag, comm.raw, rawBuffer, q.raw)
	return q
}

// Wait is MPI_Wait.
func (r *Rank) Wait(q *Request) Status {
	enter := r.now
	r.await(true, q)
	r.leave(enter, q)
	raw := q.raw
	r.free(q)
	r.record(idWait, enter, raw, q.raw, q.status)
	return q.status
}

// Waitall is MPI_Waitall. Requests that are nil are MPI_REQUEST_NULL.
func (r *Rank) Waitall(requests []*Request) []Status {
	enter := r.now
	r.await(true, requests...)
	r.leave(enter, requests...)
	before, after := make(array, len(requests)), make(array, len(requests))
	got := make(statuses, len(requests))
	for i, q := range requests {
		before[i], got[i] = q.raw, q.status
		r.free(q)
		after[i] = q.raw
	}
	r.record(idWaitall, enter, len(requests), before, after, got)
	return got
}

// Waitany is MPI_Waitany. Completed requests become nil.
func (r *Rank) Waitany(requests []*Request) (index int, status Status) {
	enter := r.now
	r.synchronize()
	var live []*Request
	for _, q := range requests {
		if q != nil {
			live = append(live, q)
		}
	}
	r.await(false, live...)
	before, after := make(array, len(requests)), make(array, len(requests))
	index = undefined
	for i, q := range requests {
		before[i], after[i] = rawRequestNull, rawRequestNull
		if q == nil {
			continue
		}
		before[i], after[i] = q.raw, q.raw
		if q.done && index == undefined {
			index, status = i, q.status
			r.leave(enter, q)
			r.free(q)
			after[i] = q.raw
		}
	}
	if index >= 0 {
		requests[index] = nil
	} else {
		r.leave(enter)
	}
	r.record(idWaitany, enter, len(requests), before, after, index, status)
	return index, status
}

// free makes a request MPI_REQUEST_NULL.
func (r *Rank) free(q *Request) {
	r.raw.give(q.raw - rawFirstHandle)
	q.raw = rawRequestNull
}

// leave sets the time at which a call returns: when all requests that it waited for have completed.
func (r *Rank) leave(enter int64, awaited ...*Request) {
	r.now = enter + r.sim.config.Model.Call
	for _, q := range awaited {
		r.now = max(r.now, q.at)
	}
	r.blameMessages(enter, awaited)
}
