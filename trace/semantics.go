package trace

import "github.com/cairn-mpi/cairn/mpi/semantics"

// Semantics is what calls of the function mean. It is made anew each time: Reader.Semantics and Event.Semantics have what
// was made once.
func (f *Function) Semantics() *semantics.Function {
	d := semantics.Declaration{Name: f.Name, Class: f.Class, Parameters: make([]semantics.Parameter, len(f.Parameters))}
	for i, p := range f.Parameters {
		d.Parameters[i] = semantics.Parameter{Name: p.Name, Kind: p.Kind, In: p.Direction != Out, Out: p.Direction != In, List: p.List}
	}
	return semantics.New(&d)
}

// bytesOfSemantics is about what the semantics of a function takes.
const bytesOfSemantics = 512

// semanticsOf are the semantics of functions, in their order.
func semanticsOf(functions []Function) []*semantics.Function {
	means := make([]*semantics.Function, len(functions))
	for i := range functions {
		means[i] = functions[i].Semantics()
	}
	return means
}

// Semantics is what calls of the function with this id mean, nil if there is none.
func (t *Reader) Semantics(id uint16) *semantics.Function {
	i := t.shared.functionIndex(id)
	if i < 0 {
		return nil
	}
	return t.means[i]
}
