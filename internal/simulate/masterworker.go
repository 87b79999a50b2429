package simulate

import "errors"

const (
	tagTask = 1 + iota
	tagResult
	tagStop
)

// masterWorker has workers times iterations tasks. Rank 0 gives one to each worker, then the next
// one to each worker that sends a result.
func masterWorker(c *Config) (func(r *Rank), error) {
	switch {
	case c.Ranks < 2:
		return nil, errors.New("simulate: master-worker needs 2 ranks")
	case c.NoReplay:
		return nil, errors.New("simulate: master-worker needs the replay: the next worker to be served depends on time")
	}
	return func(r *Rank) {
		if r.rank == 0 {
			master(r, c)
		} else {
			worker(r, c)
		}
	}, nil
}

func master(r *Rank, c *Config) {
	workers := c.Ranks - 1
	tasks := workers * c.Iterations
	sent := 0
	give := func(worker int) {
		if sent < tasks {
			r.At(30).Send(r.World(), worker, tagTask, c.Bytes)
			sent++
		} else {
			r.At(33).Send(r.World(), worker, tagStop, 0)
		}
	}
	for w := range workers {
		give(w + 1)
	}
	for range tasks {
		result := r.At(40).Recv(r.World(), AnySource, tagResult, c.Bytes)
		give(result.Source)
	}
}

func worker(r *Rank, c *Config) {
	for i := 0; ; i++ {
		if task := r.At(50).Recv(r.World(), 0, AnyTag, c.Bytes); task.Tag == tagStop {
			return
		}
		r.Work(i)
		r.At(54).Send(r.World(), 0, tagResult, c.Bytes)
	}
}
