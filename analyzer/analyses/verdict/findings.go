package verdict

import (
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// Findings are the verdict.
type Findings struct {
	Verdict verdict.Verdict `json:"verdict"`
}
