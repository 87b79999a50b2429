package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"sort"
	"strconv"

	"github.com/cairn-mpi/cairn/tracer/rawlayout"
)

// A Process is what process.json says of an MPI process.
type Process struct {
	Format          int               `json:"format"`
	Hostname        string            `json:"hostname"`
	PID             int               `json:"pid"`
	Executable      string            `json:"executable"`
	Arguments       []string          `json:"arguments"`
	StartRealtimeNS int64             `json:"start_realtime_ns"`
	BootID          string            `json:"boot_id"`
	ABI             string            `json:"abi"`
	LibraryVersion  string            `json:"library_version"`
	LaunchID        string            `json:"launch_id"`
	Clock           ProcessClock      `json:"clock"`
	Modules         []Module          `json:"modules"`
	Environment     map[string]string `json:"environment"`
	CallSites       string            `json:"call_sites"`
	Timing          string            `json:"timing"` // as timing.ParseSettings reads it; "": lossless
	PageSize        int               `json:"page_size"`
	Mode            string            `json:"mode"`      // as ParseMode reads it
	Directory       string            `json:"directory"` // name of the process's directory in the spool
	Constants       []Constant        `json:"constants"`

	// BufferBytes and SpoolLimitBytes are the tracer's configuration; 0 means the default and no limit.
	BufferBytes     int64 `json:"segment_bytes"`
	SpoolLimitBytes int64 `json:"spool_limit_bytes"`

	// SharedSpool is 1 in a pod, where a sidecar owns the spool and keeps its account.
	SharedSpool int `json:"shared_spool"`

	// Excluded are the groups of functions that were left out, with commas; StartOff is 1 if tracing was off until
	// MPI_Pcontrol(1).
	Excluded string `json:"excluded"`
	StartOff int    `json:"start_off"`
}

// ProcessClock names the clock of the records: "tsc" or "monotonic".
type ProcessClock struct {
	Kind string `json:"kind"`
}

// A Module is an executable or shared library as it was mapped.
type Module struct {
	Path    string  `json:"path"`
	BuildID string  `json:"build_id"`
	Base    Address `json:"base"`  // lowest mapped address
	Limit   Address `json:"limit"` // end of the highest mapping
}

// A Constant is a predefined handle or named value of this process' MPI library.
type Constant struct {
	Kind  string  `json:"kind"`
	Name  string  `json:"name"`
	Value Address `json:"value"`
}

// An Address is a machine word. JSON numbers and strings ("0x7f…") are read, negative numbers by their two's
// complement.
type Address uint64

// UnmarshalJSON reads a number or a string.
func (a *Address) UnmarshalJSON(b []byte) error {
	text := string(b)
	if len(b) > 1 && b[0] == '"' {
		var err error
		if text, err = strconv.Unquote(text); err != nil {
			return err
		}
	}
	if v, err := strconv.ParseInt(text, 0, 64); err == nil {
		*a = Address(v)
		return nil
	}
	v, err := strconv.ParseUint(text, 0, 64)
	*a = Address(v)
	return err
}

// ErrFormat is the error for what a newer tracer wrote.
var ErrFormat = errors.New("it was written by a newer tracer; use that one's sidecar")

// ParseProcess reads the text of process.json.
func ParseProcess(b []byte) (*Process, error) {
	p := new(Process)
	if err := json.Unmarshal(b, p); err != nil {
		return nil, err
	}
	if p.Format > processFormat {
		return nil, fmt.Errorf("format %d is newer than %d: %w", p.Format, processFormat, ErrFormat)
	}
	if len(p.Constants) > maxConstants {
		return nil, fmt.Errorf("%d constants", len(p.Constants))
	}
	// sites are looked up by binary search
	sort.SliceStable(p.Modules, func(i, j int) bool { return p.Modules[i].Base < p.Modules[j].Base })
	return p, nil
}

const (
	processFormat = rawlayout.ProcessFormat
	maxConstants  = 1 << 16
)

// Module returns the module that holds an address, nil if none does.
func (p *Process) Module(address uint64) *Module {
	i := sort.Search(len(p.Modules), func(i int) bool { return uint64(p.Modules[i].Base) > address })
	if i == 0 {
		return nil
	}
	if m := &p.Modules[i-1]; address < uint64(m.Limit) {
		return m
	}
	return nil
}

// Implementation is the name that people use.
func (p *Process) Implementation() string {
	switch p.ABI {
	case "openmpi":
		return "Open MPI"
	case "mpich":
		return "MPICH"
	}
	return p.ABI
}

// What MPI_Get_library_version says is free text, with how the library was built: only the number is kept.
var libraryVersion = regexp.MustCompile(`(?:Open MPI v|MPICH Version:\s*|Intel\(R\) MPI Library |MVAPICH2? Version\s*:?\s*)([0-9][^\s,]*)`)

// Version is the number of the MPI library's release, "4.1.4"; the whole text where it has no known form.
func (p *Process) Version() string {
	if m := libraryVersion.FindStringSubmatch(p.LibraryVersion); m != nil {
		return m[1]
	}
	return p.LibraryVersion
}

// RankFromEnvironment is for processes that died before MPI_Init returned, or never called it (sessions).
func (p *Process) RankFromEnvironment() (rank, size int) {
	number := func(names ...string) int {
		for _, name := range names {
			if v, err := strconv.Atoi(p.Environment[name]); err == nil && v >= 0 {
				return v
			}
		}
		return -1
	}
	return number("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"), number("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
}
