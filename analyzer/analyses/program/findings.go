package program

import "github.com/cairn-mpi/cairn/analyzer/program"

// Findings are the program as one text.
type Findings struct {
	Program *program.Findings `json:"program"`
}
