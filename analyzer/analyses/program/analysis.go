package program

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/program"
)

// Analysis finds one program text for all ranks.
var Analysis = analysis.New("program", analysis.About{Title: "the program of all ranks", Version: 1, Sections: Sections}, find)

func find(ctx context.Context, r *pass.Run) (Findings, error) {
	found, err := program.Analyze(ctx, r.Trace(), program.Options{MaxLines: program.MaxShown})
	return Findings{Program: &found}, err
}
