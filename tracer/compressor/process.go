package compressor

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cairn-mpi/cairn/tracer/budget"
	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
)

// maxVain is how often a process is looked at for a cut that it has announced.
const maxVain = 20

// A process is a traced process of the spool.
type process struct {
	name      string
	directory *spool.Directory
	ring      *spool.Ring
	life      *spool.Watch
	memory    *memory
	activity  *activity
	pid       int          // of its pidfd
	program   string       // that it executed at first; "": not known
	pidfd     int          // −1: its death is not observed, or known
	died      time.Time    // when its death was observed
	recorder  atomic.Int64 // bytes that its recorder has, or may take

	work      sync.Mutex    // held by who works on it; it guards what follows
	writer    *spool.Writer // nil: it has not recorded enough so far
	has       int           // memory of its recorder in bytes
	share     int           // the same, at most, from the next checkpoint on
	filled    uint64        // bytes of buffers that it had filled when it was worked on last
	ahead     uint64        // bytes that it has filled since
	more      bool          // there are full buffers from before that
	cuts      uint64        // number of cuts that were answered, or looked for in vain
	vain      int           // how often
	failed    time.Time     // of the last error
	lastError string        // that error
	over      bool          // nothing more can be done
}

// openProcess opens the directory of a process; nil if it is none, or not yet.
func openProcess(root *os.Root, name string) *process {
	d, err := spool.OpenDirectory(root, name)
	if err != nil {
		return nil
	}
	r, err := d.OpenRing()
	if err == nil {
		if _, err = r.Read(); err != nil {
			r.Close()
		}
	}
	if err != nil {
		d.Close()
		return nil
	}
	life, err := d.Watch()
	if err != nil {
		r.Close()
		d.Close()
		return nil
	}
	pid := life.PID()
	return &process{name: name, directory: d, ring: r, life: life, memory: memoryOf("/", pid), activity: activityOf(pid), program: programOf(pid), pidfd: -1}
}

// close ends the work on the process.
func (p *process) close() {
	p.giveUp()
	_ = p.life.Close()
	p.ring.Close()
	p.directory.Close()
}

// giveUp leaves what the process records to its recovery.
func (p *process) giveUp() {
	p.over, p.writer, p.has = true, nil, 0
	p.recorder.Store(0)
}

// hasEnded reports whether the process has ended.
func (p *process) hasEnded() bool {
	alive, err := p.life.Alive()
	return err == nil && !alive
}

// isDue reports whether the process has filled so much that it is worth to work on it.
func (p *process) isDue() bool {
	if p.over || time.Since(p.failed) < retryInterval {
		return false
	}
	ring, err := p.ring.Read()
	least := uint64(firstBytes)
	if p.writer != nil {
		least = moreBytes
	}
	p.ahead = ring.Filled - p.filled
	return err == nil && (p.more || p.ahead >= least || ring.Cuts != p.cuts)
}

// serve compresses some of what the process has filled.
func (p *process) serve(account *budget.Budget) (err error) {
	// somebody may make a mapped file shorter
	before := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(before)
	defer func() {
		if failed := recover(); failed != nil {
			p.giveUp()
			err = fmt.Errorf("the recorder failed: %v", failed)
		}
		if err != nil {
			p.failed = time.Now()
		}
	}()
	if p.hasEnded() {
		p.giveUp()
		return nil
	}
	if p.writer == nil {
		if p.writer, err = p.directory.Compress(account); err != nil {
			p.writer = nil
			return err
		}
	}
	ring, err := p.ring.Read()
	if err != nil {
		return err
	}
	p.writer.SetMemory(p.share)
	if p.more, err = p.writer.Step(ring); err != nil {
		if errors.Is(err, spool.ErrStopped) {
			p.giveUp()
		}
		return err
	}
	if p.filled, p.cuts = ring.Filled, p.writer.Answered(); p.cuts == ring.Cuts {
		p.vain = 0
	} else if p.vain++; p.vain > maxVain {
		p.cuts = ring.Cuts // there is no such cut
	}
	p.has = p.writer.Memory()
	p.recorder.Store(int64(max(p.has, p.share)))
	return nil
}
