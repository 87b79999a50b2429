// Package architecture says which part of the repository may know which other one, and what follows from that.
//
// In goes a table that is written by hand (Rooms, rules.go). Out come, by `go generate`, the depguard section of
// .golangci.yml, which editors and `make lint` read, and the table of docs/architecture.md. The package's test holds the
// imports of all packages against the table, indirect ones of the tracer's core library and of the small packages
// included, which depguard does not see.
package architecture

//go:generate go run ./gen
