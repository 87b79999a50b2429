package examine

import (
	"github.com/cairn-mpi/cairn/analyzer/criticalpath"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// causes puts a verdict that blames one thing into the words of package verdict. It goes when verdicts list causes.
func causes(v *criticalpath.Verdict) []verdict.Cause {
	c := verdict.Cause{Ranks: v.Ranks, Rank: v.Rank, Pod: v.Pod, Node: v.Node, GainSeconds: v.GainSeconds}
	switch v.Blames {
	case criticalpath.BlamesRank, criticalpath.BlamesRanks, criticalpath.BlamesPod, criticalpath.BlamesNode:
		c.Kind, c.Form = verdict.Excess, verdict.Always
		if v.ThrottledSeconds > 0 {
			c.Form = verdict.Stopped
		}
	case criticalpath.BlamesLimits:
		c.Kind, c.Form = verdict.CPUs, verdict.Limits
	case criticalpath.BlamesCPUs:
		c.Kind, c.Form = verdict.CPUs, verdict.TooFew
	case criticalpath.BlamesImbalance:
		c = verdict.Cause{Kind: verdict.Imbalance, Form: form(v.Imbalance.Shape), GainSeconds: v.GainSeconds}
	case criticalpath.BlamesNetwork:
		c.Kind = verdict.Network
	default:
		return nil
	}
	return []verdict.Cause{c}
}

// form is the form of imbalance that a shape stands for.
func form(s criticalpath.Shape) verdict.Form {
	switch s {
	case criticalpath.ByRank:
		return verdict.Gradient
	case criticalpath.ByIteration:
		return verdict.Moving
	}
	return verdict.Classes
}
