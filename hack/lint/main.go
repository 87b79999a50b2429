// Command lint checks rules of this repository that golangci-lint does not have. It is a tool for
// go vet, which gives it the packages, one by one, and caches what it found:
//
//	go build -o bin/lint ./hack/lint
//	go vet -vettool=$PWD/bin/lint ./...
//	go vet -vettool=$PWD/bin/lint -mpiwords ./... # only this analyzer
package main

import (
	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/cairn-mpi/cairn/hack/lint/columns"
	"github.com/cairn-mpi/cairn/hack/lint/mpiwords"
)

func main() {
	unitchecker.Main(columns.Analyzer, mpiwords.Analyzer)
}
