package mpiwords_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/cairn-mpi/cairn/hack/lint/mpiwords"
)

func TestPlantedReaders(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), mpiwords.Analyzer, "github.com/cairn-mpi/cairn/...")
}
