package untraced

import (
	"cmp"
	"path/filepath"
	"sync"
	"time"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/launch"
	"github.com/cairn-mpi/cairn/tracer/setup"
)

var shims = []string{setup.Shim(setup.OpenMPI), setup.Shim(setup.MPICH)}

// An Observer looks at the processes of a command.
type Observer struct {
	root      string // the tracer's folder, as in CAIRN_ROOT
	libraries string // where its libraries are
	stop      chan struct{}
	watching  sync.WaitGroup
	files     map[string]file    // by path
	seen      map[string]process // the last state of each executable
}

// NewObserver returns an Observer for a tracer. root is the value of CAIRN_ROOT; "": each host has
// a tracer, and what runs there is not observed.
func NewObserver(root string) *Observer {
	libraries, _ := filepath.EvalSymlinks(filepath.Join(root, "lib"))
	return &Observer{root: root, libraries: libraries, stop: make(chan struct{}), files: map[string]file{}, seen: map[string]process{}}
}

// Observe looks at the command and the processes that it starts, in the background, until shortly
// after one of them has recorded something: then all ranks have started.
func (o *Observer) Observe(command int, recorded func() bool) {
	o.watching.Go(func() { o.observe(command, recorded) })
}

// Stop ends it.
func (o *Observer) Stop() {
	close(o.stop)
	o.watching.Wait()
}

// observe looks often at first, since a command may be short, and rarely later: the processes need
// the machine.
func (o *Observer) observe(command int, recorded func() bool) {
	const first, last, after = 20 * time.Millisecond, 10 * time.Second, 200 * time.Millisecond
	for pause := first; o.wait(pause); pause = min(pause*3/2, last) {
		ends := recorded()
		if ends && !o.wait(after) {
			return
		}
		o.look(command)
		if ends {
			return
		}
	}
}

// wait reports whether the time has passed before the end.
func (o *Observer) wait(pause time.Duration) bool {
	select {
	case <-o.stop:
		return false
	case <-time.After(pause):
		return true
	}
}

// maxAlike is the number of processes of an executable that are looked at: ranks are mostly alike.
const maxAlike = 4

// look notes what the command's processes are now.
func (o *Observer) look(command int) {
	children, alike := launch.Children(), map[string]int{}
	for next := []int{command}; len(next) > 0; next = next[1:] {
		pid := next[0]
		next = append(next, children[pid]...)
		name, path := executable(pid)
		if alike[name]++; name == "" || alike[name] > maxAlike {
			continue
		}
		p, ok := o.see(pid, name, path)
		before, known := o.seen[name]
		if !ok || known && p.traced() && !before.traced() {
			continue // what is not traced stays seen
		}
		p.mpi = cmp.Or(p.mpi, before.mpi)
		o.seen[name] = p
	}
}
