// Package mpi has the types of the real one that have texts.
package mpi

type Class string

func (c Class) Op() string           { return string(c) }
func (c Class) Has(word string) bool { return string(c) == word }

type Param struct{ Name string }

type Function struct {
	Name   string
	ID     int
	Class  Class
	Params []Param
}

func (f *Function) ParamIndex(name string) int { return len(name) }
