package compressor

import (
	"cmp"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cairn-mpi/cairn/tracer/budget"
	"github.com/cairn-mpi/cairn/tracer/resolver"
	"github.com/cairn-mpi/cairn/tracer/ring"
)

const (
	firstBytes = 4 << 20 // filled by a process before it gets a recorder: before that no checkpoint is written
	moreBytes  = 2 << 20 // filled by a process before it is looked at again

	maxWorkers       = 4
	processesAWorker = 16 // that a further worker is for
	others           = 1  // further processors of Go: threads of low priority (shipper.Pack) may hold one without running

	scanInterval  = time.Second            // between scans of a spool that looks unchanged
	startInterval = 20 * time.Millisecond  // the same, where a process may be about to start
	leastInterval = time.Millisecond       // between two looks, whoever rings
	retryInterval = 10 * time.Second       // after an error
	aliveInterval = 100 * time.Millisecond // between two looks whether processes are alive
	noteInterval  = time.Second            // between two notes of that
)

// A Compressor compresses what the processes of a spool record.
type Compressor struct {
	logf     func(format string, args ...any)
	root     *os.Root
	account  *budget.Budget
	doorbell *ring.Doorbell
	before   int // GOMAXPROCS
	ended    atomic.Bool
	watching sync.WaitGroup
	working  sync.WaitGroup

	mu        sync.Mutex
	processes map[string]*process
	deaths    *deaths
	released  map[string]bool // processes that are somebody else's now
	workers   int             // that work
	scanned   time.Time       // of the spool's last scan
	unopened  bool            // that scan found a directory that is no process's, or not yet
	changed   time.Time       // when the spool was changed last, as that scan saw it
	observed  time.Time       // when the processes were seen alive last
	noted     time.Time       // when that was written down last
}

// Start begins to compress what is in a spool. logf is called with what fails. While the Compressor
// works GOMAXPROCS is what it needs, since the CPUs belong to the application.
func Start(directory string, logf func(format string, args ...any)) (*Compressor, error) {
	root, err := os.OpenRoot(directory)
	if err != nil {
		return nil, err
	}
	doorbell, err := ring.OpenDoorbell(root)
	if err != nil {
		root.Close()
		return nil, err
	}
	account, err := budget.Open(directory)
	if err != nil {
		logf("%v", err) // each process has its own limit then
	}
	c := &Compressor{
		logf: logf, root: root, account: account, doorbell: doorbell, before: runtime.GOMAXPROCS(1 + others),
		deaths:    newDeaths(),
		processes: map[string]*process{}, released: map[string]bool{},
	}
	c.watching.Go(c.watch)
	return c, nil
}

// Close ends the work. What is not compressed stays in the buffers.
func (c *Compressor) Close() {
	c.ended.Store(true)
	c.doorbell.Wake()
	c.watching.Wait()
	c.working.Wait()
	c.deaths.collect()
	for _, p := range c.processes {
		c.close(p)
	}
	c.deaths.close()
	_ = c.doorbell.Close()
	_ = c.account.Close()
	c.root.Close()
	runtime.GOMAXPROCS(c.before)
}

// Release ends the work on a process that has ended. Whoever recovers it must call this before.
func (c *Compressor) Release(name string) {
	c.mu.Lock()
	c.deaths.collect()
	p := c.processes[name]
	delete(c.processes, name)
	c.released[name] = true
	if p != nil {
		c.deaths.drop(p)
	}
	c.mu.Unlock()
	if p != nil {
		p.work.Lock()
		p.close()
		p.work.Unlock()
	}
}

// watch gives work to workers until the Compressor is closed.
func (c *Compressor) watch() {
	for !c.ended.Load() {
		c.scan()
		c.look()
		c.observe()
		c.doorbell.Await()
		time.Sleep(leastInterval) // whoever rings meanwhile is seen by what follows
	}
}

// scan finds new processes, and forgets those that have ended.
func (c *Compressor) scan() {
	c.mu.Lock()
	defer c.mu.Unlock()
	interval := scanInterval
	if c.unopened {
		interval = startInterval
	}
	info, err := c.root.Stat(".")
	if err != nil || info.ModTime().Equal(c.changed) && time.Since(c.scanned) < interval {
		return
	}
	c.changed, c.scanned = info.ModTime(), time.Now()
	entries, err := fs.ReadDir(c.root.FS(), ".")
	if err != nil {
		return
	}
	c.unopened = false
	there := map[string]bool{}
	for _, entry := range entries {
		name := entry.Name()
		if !entry.IsDir() || name == resolver.Directory || strings.HasPrefix(name, ".") {
			continue
		}
		there[name] = true
		if c.processes[name] == nil && !c.released[name] {
			if p := openProcess(c.root, name); p != nil {
				c.processes[name] = p
				c.deaths.follow(p)
			} else {
				c.unopened = true
			}
		}
	}
	for name := range c.released {
		if !there[name] {
			delete(c.released, name)
		}
	}
	for name, p := range c.processes {
		if !p.work.TryLock() {
			continue
		}
		if !there[name] || p.hasEnded() && !c.deaths.observing(p) {
			c.close(p)
			delete(c.processes, name)
			c.released[name] = there[name]
		}
		p.work.Unlock()
	}
}

// observe notes which processes are alive.
func (c *Compressor) observe() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.observed) < aliveInterval {
		return
	}
	c.observed = time.Now()
	note := time.Since(c.noted) >= noteInterval
	if note {
		c.noted = c.observed
	}
	for _, p := range c.processes {
		alive, _ := p.life.Alive()
		if alive {
			p.memory.see()
			p.activity.see(p.life)
		} else {
			p.seeProgram()
		}
		if note || !alive {
			_ = p.life.Note()
		}
	}
	c.deaths.collect()
}

// close ends the work on a process.
func (c *Compressor) close(p *process) {
	c.deaths.drop(p)
	p.close()
}

// look gives the processes that have filled enough to workers, those that are furthest ahead first.
func (c *Compressor) look() {
	c.mu.Lock()
	defer c.mu.Unlock()
	limit := min(maxWorkers, 1+len(c.processes)/processesAWorker)
	if runtime.GOMAXPROCS(0) < limit+others {
		runtime.GOMAXPROCS(limit + others)
	}
	var due []*process // locked
	for _, p := range c.processes {
		if c.ended.Load() || c.workers == limit || !p.work.TryLock() {
			continue
		}
		if p.isDue() {
			due = append(due, p)
		} else {
			p.work.Unlock()
		}
	}
	slices.SortFunc(due, func(a, b *process) int { return cmp.Compare(b.ahead, a.ahead) })
	for _, p := range due {
		if c.workers == limit {
			p.work.Unlock()
			continue
		}
		p.share = c.shareOf(p)
		c.workers++
		c.working.Go(func() { c.serve(p) })
	}
}

// serve does a step for a process, and looks for more work.
func (c *Compressor) serve(p *process) {
	if err := p.serve(c.account); err != nil && err.Error() != p.lastError {
		p.lastError = err.Error()
		c.logf("process %s: %v", p.name, err)
	}
	p.work.Unlock()
	c.mu.Lock()
	c.workers--
	c.mu.Unlock()
	c.look()
}
