package verify

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// A process is the part of process.json that matters here.
type process struct {
	dir             string
	Hostname        string `json:"hostname"`
	PID             int    `json:"pid"`
	StartRealtimeNS int64  `json:"start_realtime_ns"`
	BufferBytes     int    `json:"segment_bytes"` // 0: the default
	Constants       []struct {
		Kind  string `json:"kind"`
		Name  string `json:"name"`
		Value int64  `json:"value"`
	} `json:"constants"`
	Modules     []record.Module   `json:"modules"` // and those that were loaded later
	Environment map[string]string `json:"environment"`

	values map[constant][]int64      // by kind and name; kind "" has all kinds of a name
	names  map[string]map[int64]bool // by kind, the values that have a name
}

type constant struct{ kind, name string }

func readProcess(dir string) (*process, error) {
	b, err := os.ReadFile(filepath.Join(dir, "process.json"))
	if err != nil {
		return nil, err
	}
	p := &process{dir: dir}
	if err := json.Unmarshal(b, p); err != nil {
		return nil, err
	}
	var later record.Dictionary
	if f, err := os.Open(filepath.Join(dir, record.DictionaryFile)); err == nil {
		later.Follow(f)
		f.Close()
	}
	p.Modules = append(p.Modules, later.Modules...)
	p.index()
	return p, nil
}

func (p *process) index() {
	p.values = map[constant][]int64{}
	p.names = map[string]map[int64]bool{}
	for _, c := range p.Constants {
		for _, key := range []constant{{c.Kind, c.Name}, {"", c.Name}} {
			p.values[key] = append(p.values[key], c.Value)
		}
		if p.names[c.Kind] == nil {
			p.names[c.Kind] = map[int64]bool{}
		}
		p.names[c.Kind][c.Value] = true
	}
}

// isConstant reports whether a raw value is the value of a name for a kind.
func (p *process) isConstant(kind, name string, raw int64) bool {
	values, ok := p.values[constant{kind, name}]
	if !ok {
		values = p.values[constant{"", name}]
	}
	for _, v := range values {
		if v == raw {
			return true
		}
	}
	return false
}

// hasName reports whether a raw value is a constant of a kind.
func (p *process) hasName(kind string, raw int64) bool { return p.names[kind][raw] }

// mayHave reports whether an address was at a place in a binary. Binaries may have been there one
// after the other.
func (p *process) mayHave(address uint64, place *trace.Site) bool {
	for i := range p.Modules {
		m := &p.Modules[i]
		id := m.BuildID
		if id == "" {
			id = m.Path
		}
		if id == place.BuildID && uint64(m.Base) <= address && address < uint64(m.Limit) && address-uint64(m.Base) == place.Offset {
			return true
		}
	}
	return false
}

// of reports whether this is the process of a rank.
func (p *process) of(r *trace.Rank) bool {
	return p.Hostname == r.Host && p.PID == r.PID && r.StartedAt(p.StartRealtimeNS)
}
