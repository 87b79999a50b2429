package examine

import (
	"bytes"
	"context"
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/analyses/ledger"
	ofverdict "github.com/cairn-mpi/cairn/analyzer/analyses/verdict"
	"github.com/cairn-mpi/cairn/analyzer/analyses/whatif"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/plant"
	"github.com/cairn-mpi/cairn/trace"
)

// A Result is what was found in a plant, with the truth.
type Result struct {
	Plant  *plant.Plant
	MPI    string    // of a real plant: openmpi or mpich
	Mended []float64 // durations without the problem, in seconds, ascending; nil for simulated plants
	Truth  plant.Truth
	Text   string // the verdict
	Causes []verdict.Cause
	WhatIf []whatif.WhatIf // of simulated plants
	Ledger *verdict.Ledger // likewise
	// Cause and Who are whether these are right. Why describes what is wrong.
	Cause, Who bool
	Why        string
}

// Simulated runs a simulated plant and analyzes it.
func Simulated(ctx context.Context, p *plant.Plant) (*Result, error) {
	truth, err := p.Truth()
	if err != nil {
		return nil, err
	}
	content, err := Trace(p, false)
	if err != nil {
		return nil, err
	}
	var file bytes.Buffer
	if err := trace.Write(&file, content); err != nil {
		return nil, err
	}
	r, err := trace.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		return nil, err
	}
	found, err := pass.Find(ctx, timeline.Of(r), wanted)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", p, err)
	}
	return (&Result{Plant: p, Truth: truth, WhatIf: found.whatIf, Ledger: found.ledger}).judge(&found.verdict), nil
}

// findings are those about a simulated plant.
type findings struct {
	verdict verdict.Verdict
	whatIf  []whatif.WhatIf
	ledger  *verdict.Ledger
}

var wanted = pass.New("examine", func(_ context.Context, r *pass.Run) (findings, error) {
	return findings{
		ofverdict.Analysis.Result(r).Verdict, whatif.Analysis.Result(r).WhatIf, ledger.Analysis.Result(r).Ledger,
	}, nil
}, ofverdict.Analysis, whatif.Analysis, ledger.Analysis)

// Trace returns the trace of a simulated plant; with mended, without the problem.
func Trace(p *plant.Plant, mended bool) (*trace.Content, error) {
	s, err := p.Simulate(mended)
	if err != nil {
		return nil, err
	}
	return s.Trace()
}

// judge compares the verdict with the truth.
func (r *Result) judge(v *verdict.Verdict) *Result {
	r.Text, r.Causes = v.Text, v.Causes
	r.Cause, r.Who, r.Why = plant.Judge(r.Causes, r.Truth)
	return r
}

// Unexplained returns the part of all ranks' time that the ledger cannot explain, or 0 without a
// ledger.
func (r *Result) Unexplained() float64 {
	if r.Ledger == nil || r.Ledger.TotalNS == 0 {
		return 0
	}
	last := r.Ledger.Rows[len(r.Ledger.Rows)-1]
	return float64(last.NS) / float64(r.Ledger.TotalNS)
}
