package program

import "github.com/cairn-mpi/cairn/analyzer/program"

// Findings are the program as one text.
type Findings struct {
	Program *program.Findings `json:"program"` // null if it was left out
	// Omitted is the reason why the program was left out, and how to get it.
	Omitted string   `json:"program_omitted,omitempty"`
	Notes   []string `json:"notes,omitempty"`
}
