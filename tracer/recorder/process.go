package recorder

import (
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/cairn-mpi/cairn/mpi"
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
	Constants       constantList      `json:"constants"`

	// SegmentBytes and SpoolLimitBytes are the tracer's configuration; 0 means the default and no limit.
	SegmentBytes    int64 `json:"segment_bytes"`
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

type constantList []Constant

// UnmarshalJSON reads the list as the shim writes it by hand: it is most of process.json, and reading it by reflection
// was a tenth of what it costs a process to be traced at all. Whatever else it looks like, encoding/json reads it.
func (c *constantList) UnmarshalJSON(b []byte) error {
	if list, ok := parseConstants(string(b)); ok {
		*c = list
		return nil
	}
	return json.Unmarshal(b, (*[]Constant)(c))
}

func parseConstants(text string) ([]Constant, bool) {
	text, found := strings.CutPrefix(text, "[")
	list := make([]Constant, 0, len(text)/64)
	for found && text != "]" {
		var c Constant
		var value string
		if text, found = strings.CutPrefix(strings.TrimPrefix(text, ",\n"), `{"kind":"`); !found {
			break
		}
		c.Kind, text, _ = strings.Cut(text, "\",\n\"name\":\"")
		c.Name, text, _ = strings.Cut(text, "\",\n\"value\":")
		value, text, found = strings.Cut(text, "}")
		if strings.ContainsAny(c.Kind+c.Name, `"\`) || c.Value.UnmarshalJSON([]byte(value)) != nil {
			return nil, false
		}
		list = append(list, c)
	}
	return list, found
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

// Names of the files of a process directory.
const (
	processFile   = "process.json"
	lockFile      = "lock"
	segmentSuffix = ".seg"
	ownSegment    = "first-%d.seg" // of those that the shim makes (spool.c)
)

// maxProcessJSON bounds process.json: a few hundred constants, some hundred modules.
const maxProcessJSON = 16 << 20

// ReadProcess reads process.json of a process directory.
func ReadProcess(dir string) (*Process, error) {
	d, err := openPath(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Process()
}

// errNotProcess says what is wrong with process.json and nothing of what is in it: it may not be the tracer's.
var errNotProcess = errors.New("it does not describe a process as the tracer does")

// Process reads process.json.
func (d *Directory) Process() (*Process, error) {
	b, err := d.read(processFile, maxProcessJSON)
	if err != nil {
		return nil, err
	}
	p, err := ParseProcess(b)
	switch {
	case errors.Is(err, errFormat):
		return nil, fmt.Errorf("%s: %w", processFile, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", processFile, errNotProcess)
	}
	return p, nil
}

// errFormat is the error for what a newer tracer wrote.
var errFormat = errors.New("it was written by a newer tracer; use that one's sidecar")

// ParseProcess reads the text of process.json.
func ParseProcess(b []byte) (*Process, error) {
	p := new(Process)
	if err := json.Unmarshal(b, p); err != nil {
		return nil, err
	}
	if p.Format > processFormat {
		return nil, fmt.Errorf("format %d is newer than %d: %w", p.Format, processFormat, errFormat)
	}
	if len(p.Constants) > maxConstants {
		return nil, fmt.Errorf("%d constants", len(p.Constants))
	}
	// sites are looked up by binary search
	sort.SliceStable(p.Modules, func(i, j int) bool { return p.Modules[i].Base < p.Modules[j].Base })
	return p, nil
}

const (
	processFormat = 1
	maxConstants  = 1 << 16
)

// module returns the module that holds an address, nil if none does.
func (p *Process) module(address uint64) *Module {
	i := sort.Search(len(p.Modules), func(i int) bool { return uint64(p.Modules[i].Base) > address })
	if i == 0 {
		return nil
	}
	if m := &p.Modules[i-1]; address < uint64(m.Limit) {
		return m
	}
	return nil
}

// constantTables gives, per kind, raw value -> −1 − index into Constants. The first name of a value wins. Addresses that
// stand in the place of an array (MPI_UNWEIGHTED) are tables of their own: as elements, the same numbers are numbers.
func (p *Process) constantTables() (values, sentinels map[mpi.Kind]*rawTable) {
	values, sentinels = map[mpi.Kind]*rawTable{}, map[mpi.Kind]*rawTable{}
	for i, c := range p.Constants {
		kind, ok := mpi.KindByName(c.Kind)
		if !ok {
			continue
		}
		tables := values
		if spec := mpi.ConstantByName(c.Name); spec != nil && spec.Pointer && !isAddress(kind) {
			tables = sentinels
		}
		t := tables[kind]
		if t == nil {
			t = newRawTable()
			tables[kind] = t
		}
		if _, taken := t.get(uint64(c.Value)); !taken {
			t.put(uint64(c.Value), int32(-1-i))
		}
	}
	return values, sentinels
}

// isAddress tells whether the values of a kind are themselves addresses.
func isAddress(kind mpi.Kind) bool {
	return kind == mpi.KindBuffer || kind == mpi.KindPointer || kind == mpi.KindFunction
}

// implementation is the name that people use.
func (p *Process) implementation() string {
	switch p.ABI {
	case "openmpi":
		return "Open MPI"
	case "mpich":
		return "MPICH"
	}
	return p.ABI
}
