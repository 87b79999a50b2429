// Package trace has the types of the real one that have texts, and uses none of them.
package trace // want `trace/event.go does not use` `trace/signature.go does not` `trace/sections.go does not`

type Function struct {
	Class      string
	Parameters []Parameter
}

type Parameter struct{ Name, Kind string }
