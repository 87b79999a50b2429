package tracetest

// Short forms of common calls on MPI_COMM_WORLD with tag 0.

// Init adds MPI_Init.
func (r *Rank) Init(enter, exit float64) *Rank { return r.Call("MPI_Init", enter, exit, nil) }

// Finalize adds MPI_Finalize.
func (r *Rank) Finalize(enter, exit float64) *Rank { return r.Call("MPI_Finalize", enter, exit, nil) }

// Send adds MPI_Send.
func (r *Rank) Send(enter, exit float64, dest int) *Rank {
	return r.Call("MPI_Send", enter, exit, Args{"dest": dest})
}

// Ssend adds MPI_Ssend, which always waits for the receive.
func (r *Rank) Ssend(enter, exit float64, dest int) *Rank {
	return r.Call("MPI_Ssend", enter, exit, Args{"dest": dest})
}

// Recv adds MPI_Recv of the given bytes.
func (r *Rank) Recv(enter, exit float64, source, bytes int) *Rank {
	return r.Call("MPI_Recv", enter, exit, Args{"source": source, "status": Status{Source: source, Bytes: bytes}})
}

// Isend adds MPI_Isend.
func (r *Rank) Isend(enter, exit float64, dest int, q Request) *Rank {
	return r.Call("MPI_Isend", enter, exit, Args{"dest": dest, "request": q})
}

// Irecv adds MPI_Irecv.
func (r *Rank) Irecv(enter, exit float64, source int, q Request) *Rank {
	return r.Call("MPI_Irecv", enter, exit, Args{"source": source, "request": q})
}

// Waitall adds MPI_Waitall. There may be fewer statuses than requests.
func (r *Rank) Waitall(enter, exit float64, requests Requests, statuses ...Status) *Rank {
	for len(statuses) < len(requests) {
		statuses = append(statuses, Status{Source: -1, Tag: -1})
	}
	return r.Call("MPI_Waitall", enter, exit, Args{"count": len(requests), "array_of_requests": requests, "array_of_statuses": statuses})
}

// Collective adds a collective call without a root.
func (r *Rank) Collective(name string, enter, exit float64) *Rank {
	return r.Call(name, enter, exit, nil)
}

// Rooted adds a collective call with a root.
func (r *Rank) Rooted(name string, enter, exit float64, root int) *Rank {
	return r.Call(name, enter, exit, Args{"root": root})
}
