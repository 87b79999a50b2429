// Package architecture defines which parts of the repository may import which others.
//
// The input is a table that is written by hand (Rooms, rules.go). `go generate` writes two outputs:
// the depguard section of .golangci.yml, which editors and `make lint` read, and the table of
// docs/architecture.md. The package's test checks the imports of all packages against the table.
// For the tracer's core library and the small packages it also checks indirect imports, which
// depguard does not see.
package architecture

//go:generate go run ./gen
