package merger

import "github.com/cairn-mpi/cairn/trace"

// Chapters of threads (trace.Chapters) are not decoded: only the numbers of their signatures
// change.

// localChapters renumbers the signatures of a thread's chapters as terminals of its shape.
func localChapters(c *trace.Chapters, terminals []int32) *trace.Chapters {
	if c == nil {
		return nil
	}
	local := make(map[int32]int32, len(terminals))
	for i, terminal := range terminals {
		local[terminal] = int32(i)
	}
	named := &trace.Chapters{List: c.List, Terminals: make([]int32, len(c.Terminals))}
	for i, terminal := range c.Terminals {
		k, used := local[terminal]
		if !used {
			k = -1
		}
		named.Terminals[i] = k
	}
	return named
}

// chapters renumbers the signatures of a thread's chapters as signatures of the trace.
func (s *exported) chapters(c *trace.Chapters) *trace.Chapters {
	if c == nil {
		return nil
	}
	named := &trace.Chapters{List: c.List, Terminals: make([]int32, len(c.Terminals))}
	for i, local := range c.Terminals {
		named.Terminals[i] = local
		if local >= 0 {
			named.Terminals[i] = s.terminals[local]
		}
	}
	return named
}
