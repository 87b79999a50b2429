package activity

import (
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace/grammar"
)

// A Program determines the first call of each thread that belongs to the run, from the grammar
// alone. It is safe for concurrent use.
type Program struct {
	rules       [][]grammar.Symbol
	lengths     []uint64
	initializes []bool // by terminal
	begins      []bool // by rule: it contains an MPI_Init
}

// NewProgram returns the Program of a trace.
func NewProgram(t timeline.Trace) (*Program, error) {
	grammar, signatures := t.Grammar(), t.Signatures()
	lengths, err := grammar.Lengths()
	if err != nil {
		return nil, err
	}
	p := &Program{rules: grammar.Rules, lengths: lengths, initializes: make([]bool, len(signatures)), begins: make([]bool, len(grammar.Rules))}
	for i := range signatures {
		f := t.Semantics(signatures[i].Function)
		p.initializes[i] = f != nil && f.Operation == semantics.Initialize
	}
	for i := len(p.rules) - 1; i >= 0; i-- { // rules refer to later ones only
		p.begins[i] = slices.ContainsFunc(p.rules[i], p.has)
	}
	return p, nil
}

// Thread returns the Thread of a root rule of the grammar (ThreadTable.Roots).
func (p *Program) Thread(root int) Thread {
	if !p.begins[root] {
		return Thread{}
	}
	return Thread{first: p.first(root)}
}

func (p *Program) has(s grammar.Symbol) bool {
	if s.IsRule() {
		return p.begins[s.Rule()]
	}
	return p.initializes[s.Value]
}

// first returns the index of the first MPI_Init below a rule that contains one.
func (p *Program) first(rule int) uint64 {
	before := uint64(0)
	for {
		i := slices.IndexFunc(p.rules[rule], p.has)
		for _, s := range p.rules[rule][:i] {
			before += p.length(s)
		}
		s := p.rules[rule][i]
		if !s.IsRule() {
			return before
		}
		rule = s.Rule()
	}
}

func (p *Program) length(s grammar.Symbol) uint64 {
	if s.IsRule() {
		return s.Count * p.lengths[s.Rule()]
	}
	return s.Count
}
