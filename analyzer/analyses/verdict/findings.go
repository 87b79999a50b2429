package verdict

import (
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// Name is the name of the analysis.
const Name = "verdict"

// Findings are the verdict.
type Findings struct {
	Verdict verdict.Verdict `json:"verdict"`
}
