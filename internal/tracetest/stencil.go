package tracetest

// A Stencil is a simulated one-dimensional stencil: in each iteration a rank computes and exchanges
// halos with its neighbors by MPI_Isend, MPI_Irecv and MPI_Waitall. After every Reduce iterations
// all ranks reduce a residual.
type Stencil struct {
	Ranks, Iterations int
	// Work is how long a rank computes in an iteration, in units.
	Work func(rank, iteration int) float64
	// Reduce is the number of iterations between two calls of MPI_Allreduce; 0: never.
	Reduce int
	// Latency of a message and of a reduction; 0: 0.01.
	Latency float64
	// PerNode is the number of ranks per node; 0: all on one node, outside Kubernetes.
	PerNode int
}

// Build runs the simulation. Calls take 0.001 units unless they wait.
func (s Stencil) Build() *Builder {
	const call = 0.001
	latency := s.Latency
	if latency == 0 {
		latency = 0.01
	}
	b := New(s.Ranks)
	now := make([]float64, s.Ranks)
	if s.PerNode > 0 {
		b.Ranks(func(i int, r *Rank) {
			r.info.Pod, r.info.Node = "stencil-worker-"+digits(i/s.PerNode), "node"+digits(1+i/s.PerNode)
			r.info.Host, r.info.BootID = r.info.Pod, "boot-"+r.info.Node
		})
	}
	b.Ranks(func(i int, r *Rank) { r.At("stencil.c:30").Init(0, 10); now[i] = 10 })
	sent := make([]float64, s.Ranks)
	for k := range s.Iterations {
		for i := range s.Ranks {
			r := b.Rank(i)
			now[i] += s.Work(i, k)
			for side, peer := range []int{i - 1, i + 1} {
				if peer >= 0 && peer < s.Ranks {
					r.At("stencil.c:70").Irecv(now[i], now[i]+call, peer, Request(side))
					now[i] += call
				}
			}
			sent[i] = now[i]
			for side, peer := range []int{i - 1, i + 1} {
				if peer >= 0 && peer < s.Ranks {
					r.At("stencil.c:76").Isend(now[i], now[i]+call, peer, Request(2+side))
					now[i] += call
				}
			}
		}
		for i := range s.Ranks {
			enter := now[i]
			var requests Requests
			var statuses []Status
			for side, peer := range []int{i - 1, i + 1} {
				if peer >= 0 && peer < s.Ranks {
					requests = append(requests, Request(side))
					statuses = append(statuses, Status{Source: peer, Bytes: 512})
					now[i] = max(now[i], sent[peer]+2*call+latency)
				}
			}
			for side, peer := range []int{i - 1, i + 1} {
				if peer >= 0 && peer < s.Ranks {
					requests = append(requests, Request(2+side))
				}
			}
			now[i] += call
			b.Rank(i).At("stencil.c:82").Waitall(enter, now[i], requests, statuses...)
		}
		if s.Reduce > 0 && k%s.Reduce == s.Reduce-1 {
			last := 0.0
			for i := range s.Ranks {
				last = max(last, now[i])
			}
			for i := range s.Ranks {
				b.Rank(i).At("stencil.c:95").Collective("MPI_Allreduce", now[i], last+latency)
				now[i] = last + latency
			}
		}
	}
	last := 0.0
	for i := range s.Ranks {
		last = max(last, now[i])
	}
	b.Ranks(func(i int, r *Rank) { r.At("stencil.c:120").Finalize(now[i], last+5) })
	return b
}

func digits(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return digits(n/10) + digits(n%10)
}
