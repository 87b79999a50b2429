// Package architecture defines which parts of the repository may import which others.
//
// The input is a table that is written by hand (Rooms, rules.go). The package's test checks the
// imports of all packages against it, and the indirect imports of
// the commands. `go generate` writes the table of docs/architecture.md.
package architecture

//go:generate go run ./gen
