package shipper

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/internal/plainfile"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/resolver"
	"github.com/cairn-mpi/cairn/tracer/symbols"
)

// symbolTables resolve call sites to function, file and line.
type symbolTables struct {
	spool   string
	extract bool // the binaries are available: make missing tables
	tables  map[string]*symbols.Table
}

func newSymbolTables(spool string, extract bool) *symbolTables {
	return &symbolTables{spool: spool, extract: extract, tables: map[string]*symbols.Table{}}
}

func (t *symbolTables) dir() string { return filepath.Join(t.spool, resolver.Directory) }

// open opens the directory of the tables.
func (t *symbolTables) open() (*os.Root, error) {
	spool, err := os.OpenRoot(t.spool)
	if err != nil {
		return nil, err
	}
	defer spool.Close()
	return plainfile.Directory(spool, resolver.Directory)
}

// resolved lists the existing tables: when it changes, unresolved sites may be resolved.
func (t *symbolTables) resolved() string {
	dir, err := t.open()
	if err != nil {
		return ""
	}
	defer dir.Close()
	names, _ := fs.Glob(dir.FS(), "*.json")
	slices.Sort(names)
	return strings.Join(names, "\n")
}

// apply resolves the call sites of c. modules are the paths of the binaries. Inlined calls become
// additional frames: the call may be in a wrapper that was inlined.
func (t *symbolTables) apply(c *trace.Content, modules []string) {
	list := make([]trace.Site, 0, len(c.Sites))
	numbers := make([]uint32, len(c.Sites)) // 1 + index of each site in list
	inlined := map[trace.Site]uint32{}      // likewise, for frames that were not in the trace
	for i, s := range c.Sites {
		if s.Caller > 0 {
			s.Caller = numbers[s.Caller-1]
		}
		frames := t.frames(&s, modules)
		for k := len(frames) - 1; k > 0; k-- {
			outer := named(s, frames[k])
			number, known := inlined[outer]
			if !known {
				list = append(list, outer)
				number = uint32(len(list))
				inlined[outer] = number
			}
			s.Caller = number
		}
		if len(frames) > 0 {
			s = named(s, frames[0])
		}
		list = append(list, s)
		numbers[i] = uint32(len(list))
	}
	added := len(list) > len(c.Sites)
	c.Sites = list
	if !added {
		return
	}
	number := func(site uint32) uint32 { return numbers[site-1] }
	for i := range c.Signatures {
		c.Signatures[i] = c.Signatures[i].WithSites(number)
	}
	c.Ranks.ReplaceSites(number)
	for i := range c.Allocations {
		if s := &c.Allocations[i]; s.Site > 0 {
			s.Site = number(s.Site)
		}
	}
}

// frames returns the frames of an unresolved site; nil if nothing is known.
func (t *symbolTables) frames(s *trace.Site, modules []string) []symbols.Frame {
	if s.Function != "" || s.BuildID == "" {
		return nil
	}
	table := t.table(s, modules)
	if table == nil {
		return nil
	}
	return table.Frames(s.Offset)
}

// named returns a site of the same module and with the same caller for a frame.
func named(s trace.Site, f symbols.Frame) trace.Site {
	s.Offset, s.Function, s.File, s.Line = f.Offset, f.Function, f.File, f.Line
	return s
}

func (t *symbolTables) table(s *trace.Site, modules []string) *symbols.Table {
	if table, ok := t.tables[s.BuildID]; ok && table != nil {
		return table
	}
	table, err := t.read(s.BuildID)
	if err != nil && t.extract {
		if _, tried := t.tables[s.BuildID]; tried {
			return nil
		}
		for _, path := range modules {
			if filepath.Base(path) == s.Module {
				if _, err := symbols.Resolve(path, t.dir()); err == nil {
					table, _ = t.read(s.BuildID)
				}
			}
		}
	}
	t.tables[s.BuildID] = table // nil: look again next time
	return table
}

func (t *symbolTables) read(buildID string) (*symbols.Table, error) {
	dir, err := t.open()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return symbols.ReadIn(dir, buildID)
}
