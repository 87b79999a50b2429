package efficiency

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/analyses/phases"
	"github.com/cairn-mpi/cairn/analyzer/analyses/run"
	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes"
	method "github.com/cairn-mpi/cairn/analyzer/phases"
)

// Analysis computes the efficiencies of the run.
var Analysis = analysis.New("efficiency", analysis.About{Title: "parallel efficiency and its factors", Version: 1, Sections: Sections}, find, accounts.Pass, causes.Pass, phases.Analysis, run.Analysis)

func find(_ context.Context, r *pass.Run) (Findings, error) {
	a := accounts.Pass.Result(r)
	seconds := accounts.Seconds(a.Progressed - a.Start)
	e := efficiencyOf(a, seconds)
	e.Divide(accounts.Seconds(causes.Pass.Result(r).Ideal), seconds)
	e.addThreads(a)
	e.MainLoop = mainLoop(phases.Analysis.Result(r).Phases)
	return Findings{Efficiency: e}, nil
}

// addThreads sets the efficiency of the threads of ranks, if there are any besides the first ones.
func (e *Efficiency) addThreads(a *accounts.Accounts) {
	ran, available, threads, ranks := 0.0, 0.0, 0.0, 0.0
	for row := range a.Ranks {
		if i := a.MainOf[row]; i < 0 || a.Each[i].Compute == 0 {
			continue
		}
		team, known := a.TeamOf(row)
		if !known {
			return
		}
		ran, available, threads, ranks = ran+team.Ran, available+team.Available, threads+float64(team.Threads), ranks+1
	}
	if threads == ranks || e.Parallel == nil {
		return
	}
	e.Thread, e.Threads = Quotient(ran, available), Quotient(threads, ranks)
	e.Hybrid = new(*e.Parallel * *e.Thread)
}

// mainLoop returns the loop in which ranks spend most time, nil if there is none.
func mainLoop(f *method.Findings) *MainLoop {
	if f == nil {
		return nil
	}
	var most *method.Phase
	for i := range f.Phases {
		if p := &f.Phases[i]; p.Loop && (most == nil || p.Computation+p.MPI > most.Computation+most.MPI) {
			most = p
		}
	}
	if most == nil {
		return nil
	}
	e := &most.Efficiency
	return &MainLoop{most.Name, most.EndSeconds - most.StartSeconds, e.Parallel, e.LoadBalance, e.Communication}
}

// efficiencyOf returns the efficiencies that computation alone determines, for a run of a duration
// in seconds.
func efficiencyOf(a *accounts.Accounts, run float64) Efficiency {
	mean, most, n := 0.0, 0.0, 0.0
	for row := range a.Ranks {
		if i := a.MainOf[row]; i >= 0 && !a.Extents[i].Empty {
			useful := accounts.Seconds(a.Each[i].Compute)
			mean += useful
			most = max(most, useful)
			n++
		}
	}
	if n == 0 {
		return Efficiency{}
	}
	mean /= n
	return Efficiency{
		MeanUseful: &mean, MaxUseful: &most,
		LoadBalance: Quotient(mean, most), Communication: Quotient(most, run), Parallel: Quotient(mean, run),
	}
}
