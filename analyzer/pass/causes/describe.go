package causes

import (
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes/outliers"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// causeOf returns a cause about ranks, slowest first, in a region.
func (e *evidence) causeOf(kind verdict.Kind, set []outliers.Worker, where accounts.Activity) verdict.Cause {
	c := verdict.Cause{Kind: kind}
	if len(set) > 0 {
		first := &e.Ranks[set[0].Row]
		c.Others = len(e.Ranks) - len(set)
		c.Ranks, c.Rank, c.Pod, c.Node, c.Host, c.Scope = e.Listed(set), &first.Rank, first.Pod, first.Node, first.Host, e.ScopeOf(set)
		for _, w := range set {
			r := &e.Ranks[w.Row]
			if r.Pod != c.Pod {
				c.Pod = ""
			}
			if r.Node != c.Node {
				c.Node = ""
			}
			if r.Host != c.Host {
				c.Host = ""
			}
		}
	}
	locate(e, &c, where)
	return c
}

// ofAllRanks returns a cause about all ranks alike; it names the rank if there is only one.
func ofAllRanks(e *evidence, kind verdict.Kind, form verdict.Form, where accounts.Activity) verdict.Cause {
	var only []outliers.Worker
	if len(e.Ranks) == 1 {
		only = make([]outliers.Worker, 1)
	}
	c := e.causeOf(kind, only, where)
	c.Form = form
	return c
}

// locate sets the source location of a cause.
func locate(e *evidence, c *verdict.Cause, where accounts.Activity) {
	switch {
	case where.Computes():
		c.Before = e.Names.Call(where.Next, where.NextSite)
		if !e.Sums {
			c.After = e.Names.Call(where.Function, where.Site)
		}
		c.In = e.Names.Around(where.Site, where.NextSite)
	case where != accounts.Activity{}:
		c.Before, c.In = e.Names.Call(where.Function, where.Site), e.Names.In(where.Site)
	}
}

// compareEach sets the mean duration of a computation's instances on a rank and on the others.
func compareEach(e *evidence, c *verdict.Cause, w outliers.Worker, others []outliers.Worker, where accounts.Activity) {
	t := e.TallyOf(w, where)
	if t == nil || t.Count == 0 {
		return
	}
	own, _ := e.Each[e.MainOf[w.Row]].Undelayed(where)
	c.EachSeconds = accounts.Seconds(own) / float64(t.Count)
	c.Of, c.Varies = int(t.Count), t.Varies()
	sum, count := e.sumOf(others, where)
	if count == 0 {
		if twin, ok := twin(e, w.Row, where); ok {
			sum, count = e.sumOf(others, twin)
		}
	}
	if count > 0 {
		c.OthersSeconds, c.OthersOf = new(sum/float64(count)), float64(count)/float64(len(others))
	}
}
