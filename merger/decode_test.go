package merger

import (
	"fmt"
	"testing"

	"github.com/cairn-mpi/cairn/trace"
)

// decode writes every call of a thread with all its values, free of the
// trace's own numbers: what must be the same before and after a merge.
func decode(t *testing.T, c *trace.Content, rank int) []string {
	t.Helper()
	functions := map[uint16]*trace.Function{}
	for i := range c.Functions {
		functions[c.Functions[i].ID] = &c.Functions[i]
	}
	var calls []string
	for i := range c.Threads {
		th := &c.Threads[i]
		if th.Rank != rank {
			continue
		}
		left := map[[2]int32][]int64{}
		for _, s := range th.Streams {
			left[[2]int32{s.Terminal, s.Number}] = c.Sequences[s.Sequence]
		}
		comms := map[int64]int{} // instance by handle
		n := 0
		walkGrammar(func(r int) []trace.Symbol { return c.Grammar.Rules[r] }, th.Root, func(terminal int32, count uint64) {
			for range count {
				s := &c.Signatures[terminal]
				f := functions[s.Function]
				own := -1
				for k, p := range inParameters(f) {
					if p.Kind == "comm" {
						if s.In[k].Form == trace.Name {
							own = rank
						} else {
							own = c.Communicators[comms[s.In[k].Int]].Members.Index(rank)
						}
					}
				}
				var resolve func(v trace.Value) string
				resolve = func(v trace.Value) string {
					take := func() int64 {
						k := [2]int32{terminal, int32(v.Int)}
						if len(left[k]) == 0 {
							t.Fatalf("rank %d, call %d: stream %d of %s is exhausted", rank, n, v.Int, f.Name)
						}
						x := left[k][0]
						left[k] = left[k][1:]
						return x
					}
					switch v.Form {
					case trace.Stream:
						return fmt.Sprint(take())
					case trace.ListStream:
						list := []int64{}
						for range take() {
							list = append(list, take())
						}
						return fmt.Sprint(list)
					case trace.RankOffset:
						if own < 0 {
							t.Fatalf("relative peer without a communicator in %s", f.Name)
						}
						return fmt.Sprint(int64(own) + v.Int)
					case trace.Int:
						return fmt.Sprint(v.Int)
					case trace.List, trace.Status:
						text := "("
						for _, e := range v.List {
							text += resolve(e) + " "
						}
						return text + ")"
					}
					return fmt.Sprintf("%d:%d:%s", v.Form, v.Int, v.Text)
				}
				line := f.Name
				for _, v := range s.In {
					line += " " + resolve(v)
				}
				line += " ->"
				for _, v := range s.Out {
					line += " " + resolve(v)
				}
				if s.Communicator.Form == trace.Stream {
					k := [2]int32{terminal, int32(s.Communicator.Int)}
					id := left[k][0]
					left[k] = left[k][1:]
					line += " makes " + c.Communicators[id].GlobalName + " " + c.Communicators[id].Members.String()
					comms[s.Out[0].Int] = int(id)
				}
				if s.Site > 0 {
					site := c.Sites[s.Site-1]
					line += fmt.Sprintf(" at %s+%x", site.BuildID, site.Offset)
				}
				line += fmt.Sprintf(" %d %d", th.Gaps[n], th.Durations[n])
				calls = append(calls, line)
				n++
			}
		})
		if uint64(n) != th.Calls {
			t.Fatalf("rank %d: %d calls decoded, %d announced", rank, n, th.Calls)
		}
		for k, v := range left {
			if len(v) > 0 {
				t.Fatalf("rank %d: %d values of stream %v left over", rank, len(v), k)
			}
		}
	}
	for i := range c.Ranks {
		if c.Ranks[i].Rank == rank {
			for _, id := range c.Ranks[i].CommunicatorsOwn {
				calls = append(calls, "has "+c.Communicators[id].GlobalName)
			}
		}
	}
	return calls
}

func inParameters(f *trace.Function) []trace.Parameter {
	var in []trace.Parameter
	for _, p := range f.Parameters {
		if p.Direction != trace.Out {
			in = append(in, p)
		}
	}
	return in
}
