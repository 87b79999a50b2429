package columns_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/cairn-mpi/cairn/hack/lint/columns"
)

func TestColumns(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), columns.Analyzer, "comments")
}
