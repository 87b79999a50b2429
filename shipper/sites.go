package shipper

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/symbols"
)

// symbolsDirectory is where the resolver leaves its tables in a spool.
const symbolsDirectory = "symbols"

// symbolTables gives call sites their function, file and line.
type symbolTables struct {
	dir     string
	extract bool // the binaries are at hand: make the tables that are missing
	tables  map[string]*symbols.Table
}

func newSymbolTables(spool string, extract bool) *symbolTables {
	return &symbolTables{dir: filepath.Join(spool, symbolsDirectory), extract: extract, tables: map[string]*symbols.Table{}}
}

// resolved names the tables that are there: when it changes, sites that had no
// name may get one.
func (t *symbolTables) resolved() string {
	names, _ := filepath.Glob(filepath.Join(t.dir, "*.json"))
	slices.Sort(names)
	return strings.Join(names, "\n")
}

// apply completes sites in place. modules are the paths of the binaries.
func (t *symbolTables) apply(sites []trace.Site, modules []string) {
	for i := range sites {
		s := &sites[i]
		if s.Function != "" || s.BuildID == "" {
			continue
		}
		table := t.table(s, modules)
		if table == nil {
			continue
		}
		if place, ok := table.Lookup(s.Offset); ok {
			s.Function, s.File, s.Line = place.Function, place.File, place.Line
		}
	}
}

func (t *symbolTables) table(s *trace.Site, modules []string) *symbols.Table {
	if table, ok := t.tables[s.BuildID]; ok && table != nil {
		return table
	}
	table, err := symbols.Read(t.dir, s.BuildID)
	if err != nil && t.extract {
		if _, tried := t.tables[s.BuildID]; tried {
			return nil
		}
		for _, path := range modules {
			if filepath.Base(path) == s.Module {
				if _, err := symbols.Resolve(path, t.dir); err == nil {
					table, _ = symbols.Read(t.dir, s.BuildID)
				}
			}
		}
	}
	t.tables[s.BuildID] = table // nil: looked for again when asked again
	return table
}
