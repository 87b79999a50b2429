package topology

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/traffic"
	"github.com/cairn-mpi/cairn/trace"
)

// Analyze finds the topology of the run as a whole and of its communicators, from the communication
// matrix. That is computed on the grammar, without reading calls.
func Analyze(_ context.Context, t timeline.Trace, o Options) (Findings, error) {
	f := Findings{SchemaVersion: SchemaVersion, Communicators: []Finding{}, Notes: []string{}}
	traffic, err := t.Matrix()
	if err != nil {
		return f, fmt.Errorf("communication matrix: %w", err)
	}
	size := t.Meta().WorldSize
	byComm := map[int][]Traffic{}
	unknown := Volume{}
	for _, one := range traffic {
		if !inside(one, size) {
			unknown.Calls += one.Messages
			unknown.Bytes += one.Bytes
			continue
		}
		byComm[one.Comm] = append(byComm[one.Comm], Traffic{one.Source, one.Dest, one.Messages, one.Bytes})
	}
	if unknown.Calls > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%d messages went to or from processes that are not in this trace's world, or on communicators that it does not know.", unknown.Calls))
	}
	world := World(traffic, size)
	run := Identify(world, o)
	f.Run, f.Shape = finding(run, size), &run
	f.Run.Places = places(run)
	f.Communicators = perCommunicator(t.Communicators(), byComm, o)
	return f, nil
}

// World returns the matrix of all communicators together, by ranks of MPI_COMM_WORLD. Traffic with
// other worlds is left out.
func World(traffic []traffic.Pair, size int) Matrix {
	m := Matrix{Order: size}
	at := map[[2]int]int{}
	for _, one := range traffic {
		if !inside(one, size) {
			continue
		}
		pair := [2]int{one.Source, one.Dest}
		i, there := at[pair]
		if !there {
			i = len(m.Traffic)
			at[pair] = i
			m.Traffic = append(m.Traffic, Traffic{From: one.Source, To: one.Dest})
		}
		m.Traffic[i].Calls += one.Messages
		m.Traffic[i].Bytes += one.Bytes
	}
	return m
}

// inside reports whether both ends of some traffic are in the trace's world.
func inside(one traffic.Pair, size int) bool {
	return one.Source >= 0 && one.Dest >= 0 && one.Source < size && one.Dest < size
}

// maxPlaced is the maximum number of ranks whose coordinates are listed: what a picture can show.
const maxPlaced = 4096

// places returns the coordinates of all ranks; nil if there is no pattern or too many ranks.
func places(t Topology) [][]int {
	if t.Pattern == nil || len(t.Vertex) > maxPlaced {
		return nil
	}
	all := make([][]int, len(t.Vertex))
	for rank, v := range t.Vertex {
		if v >= 0 {
			all[rank] = t.Pattern.Coordinates(v)
			if t.Copies > 1 {
				all[rank] = append([]int{t.Copy[rank]}, all[rank]...)
			}
		}
	}
	return all
}

// perCommunicator groups communicators with equal topologies: a program with 64 rows has 64 of
// them.
func perCommunicator(communicators []trace.Communicator, byComm map[int][]Traffic, o Options) []Finding {
	groups := map[string]*Finding{}
	list := []Finding{}
	var order []string
	for i, c := range communicators {
		if len(c.Remote) > 0 || len(byComm[i]) == 0 {
			continue // its pattern is part of the whole run's
		}
		members := c.Members.Ranks()
		number := make(map[int]int, len(members))
		for own, rank := range members {
			number[rank] = own
		}
		m := Matrix{Order: len(members)}
		for _, one := range byComm[i] {
			m.Traffic = append(m.Traffic, Traffic{number[one.From], number[one.To], one.Calls, one.Bytes})
		}
		found := Identify(m, o)
		key := fmt.Sprintf("%d %s", len(members), found.Name())
		if groups[key] == nil {
			one := finding(found, len(members))
			groups[key] = &one
			order = append(order, key)
			groups[key].Name = name(c)
		} else {
			g := groups[key]
			g.Inside.add(found.Inside)
			g.Outside.add(found.Outside)
			g.lost()
		}
		groups[key].Communicators++
	}
	for _, key := range order {
		list = append(list, *groups[key])
	}
	slices.SortStableFunc(list, func(a, b Finding) int {
		return cmp.Compare(b.Inside.Bytes+b.Outside.Bytes, a.Inside.Bytes+a.Outside.Bytes)
	})
	return list
}

// name returns the program's name of a communicator, else its global name.
func name(c trace.Communicator) string {
	if c.Label != "" {
		return c.Label
	}
	return c.GlobalName
}

func finding(t Topology, ranks int) Finding {
	f := Finding{
		Ranks: ranks, Topology: t.Name(), Aliases: t.Aliases, Natural: t.Natural && t.Pattern != nil, OneWay: t.OneWay,
		Copies: t.Copies, Silent: t.Silent, Filtered: t.Filtered, Inside: t.Inside, Outside: t.Outside,
	}
	if t.Pattern != nil {
		f.Family, f.Dimensions, f.Periodic = t.Pattern.Family, t.Pattern.Dimensions, t.Pattern.Periodic
	}
	f.lost()
	return f
}

func (v *Volume) add(o Volume) {
	v.Calls += o.Calls
	v.Bytes += o.Bytes
}

// lost computes the share of the traffic outside of the pattern.
func (f *Finding) lost() {
	if all := f.Inside.Calls + f.Outside.Calls; all > 0 {
		f.LostCalls = float64(f.Outside.Calls) / float64(all)
	}
	if all := f.Inside.Bytes + f.Outside.Bytes; all > 0 {
		f.LostBytes = float64(f.Outside.Bytes) / float64(all)
	}
}
