package trace

import "cmp"

// Evidence is what the operating system counted for a thread while a computation between two calls, or a call, was long (from
// 1 ms on, more where readings would cost too much; docs/evidence.md): whether the thread ran, waited for a CPU, or was blocked
// in the kernel. It is summed up by where in the program that was, and only the largest instances are there one by one, so
// it does not grow with the run. A trace holds it rounded, counts as Rounded and times as RoundedNS. A finished one has the
// largest instances of all ranks together.

// Unknown is the value of a count that was not to be had: never zero.
const Unknown = -1

// A CallPlace is an MPI function and where it was called from.
type CallPlace struct {
	Function uint16 // Function.ID; 0: no call
	Site     uint32 // 1 + index into the table of call sites; 0: unknown
}

// An EvidencePlace is where in the program time passed: between After and Before, or inside of the call Before if After is
// zero.
type EvidencePlace struct {
	Thread        int // number of the thread in its rank, as in Thread.Thread
	After, Before CallPlace
}

// Compare orders places by thread, then by the calls.
func (p EvidencePlace) Compare(other EvidencePlace) int {
	return cmp.Or(cmp.Compare(p.Thread, other.Thread), p.After.compare(other.After), p.Before.compare(other.Before))
}

func (c CallPlace) compare(other CallPlace) int {
	return cmp.Or(cmp.Compare(c.Function, other.Function), cmp.Compare(c.Site, other.Site))
}

// An EvidenceRow is what passed on one thread of a rank in all the long instances of one place. Rows that take less than 0.5%
// of the rank's run are left out.
type EvidenceRow struct {
	EvidencePlace
	Count      uint64 // long instances
	WallNS     int64  // their time
	CPUNS      int64  // of it the thread was on a CPU
	RunDelayNS int64  // of it the thread was ready to run and waited for a CPU; Unknown where the kernel does not count it
	// OtherCPUNS is the CPU time that the other threads of the process took meanwhile, without the tracer's own. It may be
	// more than WallNS. Unknown where it was not read.
	OtherCPUNS int64
	// IOBytes and IOCalls are what the thread read and wrote with system calls (files, pipes, terminals; sockets that are
	// used like files), of instances in which it was blocked for a millisecond or more; 0 where there are none, Unknown where
	// the kernel does not tell.
	IOBytes, IOCalls int64
	// DataNS is for how long the thread was blocked in those of these instances in which it read or wrote DataBytes and more: in
	// one of many that says nothing about the others. Unknown as IOBytes.
	DataNS int64
}

// BlockedNS is for how long the thread neither ran nor waited for a CPU: blocked in the kernel. Without the run delay that is
// not known.
func (r *EvidenceRow) BlockedNS() (ns int64, known bool) {
	return blocked(r.WallNS, r.CPUNS, r.RunDelayNS)
}

// An EvidenceInstance is a single one of a row's instances.
type EvidenceInstance struct {
	Row        int   // index into Rank.Evidence
	BeginNS    int64 // as Event.Enter and Event.Exit, which see; in a trace off by 33 µs at most
	WallNS     int64 // this and all that follows as in an EvidenceRow
	CPUNS      int64
	RunDelayNS int64
	IOBytes    int64
}

// EndNS is where the instance ends.
func (e *EvidenceInstance) EndNS() int64 { return e.BeginNS + e.WallNS }

// BlockedNS is as that of an EvidenceRow.
func (e *EvidenceInstance) BlockedNS() (ns int64, known bool) {
	return blocked(e.WallNS, e.CPUNS, e.RunDelayNS)
}

func blocked(wall, cpu, delay int64) (ns int64, known bool) {
	if delay < 0 {
		return 0, false
	}
	return max(wall-cpu-delay, 0), true
}

// A ThreadUsage is what a thread of a process, also one that never calls MPI, had used by the last sample of the rank's
// context.
type ThreadUsage struct {
	TID        int    // in a finished trace the tracer's threads are one, with the rank's PID
	Name       string // as the kernel has it, 15 bytes at most
	CPUNS      int64
	RunDelayNS int64 // Unknown where the kernel does not count it
	CallsMPI   bool
	Tool       bool // the tracer's own
}

// DataBytes is from how many bytes on reading and writing is of data: a runtime wakes its own threads through pipes, a few
// bytes at a time.
const DataBytes = 4 << 10

// MaxInstances and MaxThreadUsages bound the lists of a rank.
const (
	MaxInstances    = 32
	MaxThreadUsages = 16
)
