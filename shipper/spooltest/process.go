// Package spooltest makes spools for tests: processes that left records like those of the shim
// (docs/decisions/0001-seams.md), without MPI.
//
// The input is the identity of a process and its calls; the output is its directory.
package spooltest

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/tracer/rawlayout"
)

// Raw handles of a fake MPI library.
const (
	commWorld   = 0x44000000
	typeInt     = 0x4c000405
	procNull    = -1
	moduleBase  = 0x400000
	moduleLimit = 0x500000
)

// A Process writes the records of one rank. Every call takes 20 ticks of 1 ns, with 10 ticks
// between calls.
type Process struct {
	Rank, Size int
	LaunchID   string
	Host       string
	PID        int
	Start      int64 // realtime in ns
	BuildID    string
	Executable string
	Offset     uint64 // of the return address of its calls
	// Shared: its spool has an account.
	Shared bool

	words []uint64
	clock uint64
	epoch uint64
}

const headerBytes = 4096

// New returns a process of a launch that has called MPI_Init.
func New(launchID string, rank, size int) *Process {
	return &Process{
		Rank: rank, Size: size, LaunchID: launchID, Host: "host", PID: 100 + rank, Start: 1_000_000_000 + int64(rank),
		BuildID: "cafe", Executable: "/opt/app", Offset: 0x1000, clock: 1000, epoch: 2,
	}
}

// Init calls MPI_Init.
func (p *Process) Init() *Process {
	world := []int64{commWorld, int64(p.Rank), int64(p.Size), 0, 0, 0, int64(p.Size)}
	for i := range p.Size {
		world = append(world, int64(i))
	}
	world = append(world, 0) // no remote group
	return p.call("MPI_Init", append([]int64{1, 0, 1, 0, int64(p.Rank), int64(p.Size), 0}, world...)...)
}

// Send calls MPI_Send of n integers to a rank.
func (p *Process) Send(n, to int) *Process {
	return p.call("MPI_Send", 0x10, int64(n), typeInt, int64(to), 7, commWorld)
}

// Barrier calls MPI_Barrier.
func (p *Process) Barrier() *Process { return p.call("MPI_Barrier", commWorld) }

// Finalize calls MPI_Finalize.
func (p *Process) Finalize() *Process { return p.call("MPI_Finalize") }

func (p *Process) call(name string, words ...int64) *Process {
	f := mpi.ByName(name)
	if f == nil {
		panic("no function " + name)
	}
	const header = 7
	bytes := uint32(8 * (header + len(words)))
	p.epoch += 2
	record := make([]uint64, header, header+len(words))
	record[0] = halves(bytes, uint32(f.ID))
	record[1] = halves(bytes, 1)
	record[2] = p.epoch
	record[3] = p.clock + 10
	record[4] = p.clock + 30
	record[5] = moduleBase + p.Offset
	for _, w := range words {
		record = append(record, uint64(w))
	}
	p.clock += 30
	p.words = append(p.words, record...)
	return p
}

// halves returns the word whose first four bytes are a and whose last four are b.
func halves(a, b uint32) uint64 {
	var raw [8]byte
	binary.NativeEndian.PutUint32(raw[:], a)
	binary.NativeEndian.PutUint32(raw[4:], b)
	return binary.NativeEndian.Uint64(raw[:])
}

// Directory is the name of the process's directory.
func (p *Process) Directory() string { return fmt.Sprintf("%s-%d-%016x", p.Host, p.PID, p.Start) }

// Write writes the calls so far to a spool and returns the directory. It may be repeated. The
// directory appears atomically: nobody holds its lock, so a partial one would be that of a dead
// process.
func (p *Process) Write(t testing.TB, spool string) string {
	t.Helper()
	dir := filepath.Join(spool, p.Directory())
	made := dir
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		made = filepath.Join(t.TempDir(), p.Directory())
		if err := os.MkdirAll(made, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	raw := p.description(t)
	segment := make([]uint64, headerBytes/8, headerBytes/8+len(p.words))
	copy(bytesOf(segment), "CAIRNSEG")
	segment[1] = halves(rawlayout.BufferFormat, 0)
	segment[3] = uint64(8 * len(p.words))
	segment[5], segment[6], segment[7] = p.clock, p.clock, uint64(p.Start)+p.clock
	segment = append(segment, p.words...)
	for name, content := range map[string][]byte{"process.json": raw, "0-0.seg": bytesOf(segment), "lock": nil} {
		if err := os.WriteFile(filepath.Join(made, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if made != dir {
		if err := os.MkdirAll(spool, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(made, dir); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// description is process.json.
func (p *Process) description(t testing.TB) []byte {
	t.Helper()
	description := map[string]any{
		"format": 1, "hostname": p.Host, "pid": p.PID, "executable": p.Executable, "start_realtime_ns": p.Start,
		"boot_id": "boot-" + p.Host, "abi": "mpich", "library_version": "4.0.2", "launch_id": p.LaunchID,
		"clock": map[string]string{"kind": "monotonic"}, "call_sites": "caller", "page_size": 4096, "directory": p.Directory(),
		"modules": []map[string]any{{"path": p.Executable, "build_id": p.BuildID, "base": moduleBase, "limit": moduleLimit}},
		"constants": []any{
			constant("comm", "MPI_COMM_WORLD", commWorld), constant("datatype", "MPI_INT", typeInt), constant("rank", "MPI_PROC_NULL", procNull),
		},
	}
	if p.Shared {
		description["shared_spool"] = 1
	}
	raw, err := json.Marshal(description)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func constant(kind, name string, value int64) map[string]any {
	return map[string]any{"kind": kind, "name": name, "value": value}
}

func bytesOf(words []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
}
