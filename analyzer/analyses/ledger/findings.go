package ledger

import (
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// Findings are the ledger of lost time.
type Findings struct {
	Ledger *verdict.Ledger `json:"ledger"` // where the time of all ranks went; null where it is not known
}
