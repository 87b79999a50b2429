package stopped

import (
	"context"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/trace"
)

// findEnding determines how a run ended that did not complete MPI_Finalize, or in which a rank
// ended in a later call. It returns nil if all ranks in the trace completed it, and ended in no
// later call.
func findEnding(ctx context.Context, t timeline.Trace, clocks *timeline.Clocks) (*Ending, error) {
	early := false
	for _, r := range t.Ranks().All() {
		early = early || r.EndedEarly != "" && !r.TracingStopped()
	}
	if !early && !slices.ContainsFunc(t.Signatures(), func(s trace.Signature) bool { return s.Return.Form == trace.Absent }) {
		return nil, nil //nolint:nilnil // nothing to find
	}
	o, err := observe(ctx, t, clocks)
	if err != nil {
		return nil, err
	}
	if !early && !slices.ContainsFunc(o.states, func(r state) bool { return r.after != nil }) {
		return nil, nil //nolint:nilnil // threads were in calls when others ended the process
	}
	s := &search{observation: o, tried: map[*trace.Signature]bool{}}
	for i := range o.states {
		if o.states[i].died > s.ended {
			s.ended = o.states[i].died
		}
	}
	s.markOverdue()
	stop := s.stop()
	return &Ending{
		Kind: stop.Kind, Form: stop.Form, Text: stop.Sentence(), Advice: stop.Advice(), Seconds: stop.Seconds, WaitedSeconds: stop.Waited,
		Named: s.list(s.accused), Cycle: append([]int{}, s.cycle...), Ranks: s.ranks(),
	}, nil
}

// search determines the reason from the observation.
type search struct {
	*observation
	ended     int64 // last time at which a rank was known to be alive
	abilities []ability
	assumed   map[int]ability           // by row: abilities that are given to find the others
	tried     map[*trace.Signature]bool // whether calls succeeded with these arguments
	cycle     []int                     // ranks
	accused   []int                     // rows that the sentence names
}

// stop returns the data of the first sentence. A death has priority: the waiting of others after it
// is not a hang.
func (s *search) stop() *verdict.Stop {
	for _, look := range []func() *verdict.Stop{s.afterFinalize, s.aborted, s.failed, s.executed, s.crashed, s.left, s.vanished, s.refused, s.killed, s.hung, s.stalled, s.allLeft} {
		if found := look(); found != nil {
			found.Ranks = len(s.states)
			return found
		}
	}
	stop := s.seen()
	stop.Ranks = len(s.states)
	s.endedBy(stop)
	return stop
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

// call returns a call in readable form.
func (s *search) call(function uint16, site uint32) verdict.Call {
	p := verdict.Call{}
	if f := s.trace.Function(function); f != nil {
		p.Function = f.Name
	}
	if sites := s.trace.Sites(); site > 0 && int(site) <= len(sites) {
		p.CallSite = callsite.Name(&sites[site-1])
	}
	return p
}

// communicator returns the name of a communicator: the program's, otherwise MPI's, otherwise its
// origin.
func (s *search) communicator(i int) string {
	comms := s.trace.Communicators()
	if i < 0 || i >= len(comms) {
		return "MPI_COMM_WORLD"
	}
	if c := &comms[i]; c.Label != "" {
		return c.Label
	}
	if c := &comms[i]; s.foreign(i) {
		return "intercommunicator with another world"
	} else if len(c.Remote) > 0 { // whose name is of numbers only
		return "intercommunicator of " + briefly(c.Members) + " and " + briefly(c.Remote)
	}
	if name := comms[i].GlobalName; len(name) <= maxName {
		return name
	}
	return "a communicator of " + verdictCount(comms[i].Members.Len())
}

// briefly names ranks, or says how many there are.
func briefly(ranks trace.RankList) string {
	if list := ranks.String(); len(list) <= maxName {
		return who(list, ranks.Len())
	}
	return verdictCount(ranks.Len())
}

// maxName is the maximum length of a communicator's name that is shown.
const maxName = 40
