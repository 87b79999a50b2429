package record

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strconv"

	"github.com/cairn-mpi/cairn/tracer/rawlayout"
)

// A Process is the content of process.json.
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
	Timing          string            `json:"timing"` // in the form of timing.ParseSettings; "": lossless
	PageSize        int               `json:"page_size"`
	Mode            string            `json:"mode"`      // in the form of online.ParseMode
	Directory       string            `json:"directory"` // name of the process's directory in the spool
	Constants       []Constant        `json:"constants"`

	// BufferBytes and SpoolLimitBytes are the tracer's configuration; 0 means the
	// default and no limit.
	BufferBytes     int64 `json:"segment_bytes"`
	SpoolLimitBytes int64 `json:"spool_limit_bytes"`

	// SharedSpool is 1 in a pod, where a sidecar owns the spool and its budget file.
	SharedSpool int `json:"shared_spool"`

	// Excluded is the comma-separated list of the function groups that were left out. StartOff is 1
	// if tracing was off until MPI_Pcontrol(1).
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

// An Address is a machine word. In JSON it is a number or a string ("0x7f…"); negative numbers are
// in two's complement.
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

// ErrFormat reports a file of a newer tracer.
var ErrFormat = errors.New("it was written by a newer tracer; use that one's sidecar")

// ParseProcess reads the text of process.json.
func ParseProcess(b []byte) (*Process, error) {
	p := new(Process)
	if err := json.Unmarshal(b, p); err != nil {
		return nil, err
	}
	if p.Format > rawlayout.ProcessFormat {
		return nil, fmt.Errorf("format %d is newer than %d: %w", p.Format, rawlayout.ProcessFormat, ErrFormat)
	}
	if len(p.Constants) > maxConstants {
		return nil, fmt.Errorf("%d constants", len(p.Constants))
	}
	// sites are looked up by binary search
	slices.SortStableFunc(p.Modules, func(a, b Module) int { return cmp.Compare(a.Base, b.Base) })
	return p, nil
}

const maxConstants = 1 << 16

// Module returns the module that holds an address, nil if none does.
func (p *Process) Module(address uint64) *Module {
	i := sort.Search(len(p.Modules), func(i int) bool { return uint64(p.Modules[i].Base) > address })
	if i > 0 && address < uint64(p.Modules[i-1].Limit) {
		return &p.Modules[i-1]
	}
	return nil
}

// Implementation returns the common name of the MPI library.
func (p *Process) Implementation() string {
	switch p.ABI {
	case "openmpi":
		return "Open MPI"
	case "mpich":
		return "MPICH"
	}
	return p.ABI
}

// The result of MPI_Get_library_version is free text with details of the build; only the
// version number is kept.
var libraryVersion = regexp.MustCompile(`(?:Open MPI v|MPICH Version:\s*|Intel\(R\) MPI Library |MVAPICH2? Version\s*:?\s*)([0-9][^\s,]*)`)

// Version returns the release number of the MPI library, such as "4.1.4", or the whole text if its
// form is unknown.
func (p *Process) Version() string {
	if m := libraryVersion.FindStringSubmatch(p.LibraryVersion); m != nil {
		return m[1]
	}
	return p.LibraryVersion
}

// RankFromEnvironment returns rank and size for processes that died before MPI_Init returned, or
// that use sessions only.
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
