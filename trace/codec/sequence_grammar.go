package codec

import (
	"encoding/binary"

	"github.com/cairn-mpi/cairn/trace/grammar"
)

// Some sequences have a structure that runs and progressions miss: the columns of a grid of ranks,
// values that repeat with a period. They are written as a run-length grammar (see Sequitur) over
// the distinct values, or over the distinct differences between neighbors. Nested regular rank
// lists (ScalaTrace II §2.2) are a case of this.

// pieceGrammar is the kind of a piece that is a whole sequence. In the file its head is 0 or 1,
// like a piece without values.
const pieceGrammar = 1 << pieceKindBits

const (
	// grammarWorth is the share of the size of the pieces, in quarters, that a grammar must stay
	// below, since pieces compress better.
	grammarWorth = 3
	// shortestPieces is the size of the pieces, in bytes, from which on a grammar can be shorter.
	shortestPieces = 12
)

// grammarOfSequence encodes values as a grammar. It returns nil if pieces, which take that many
// bytes, are better.
func grammarOfSequence(values []int64, pieces int) []byte {
	if pieces < shortestPieces || len(values) < 8 {
		return nil
	}
	limit := pieces * grammarWorth / 4
	var best []byte
	for _, differences := range []bool{false, true} {
		if b := appendSequenceGrammar(values, differences, limit); b != nil {
			best, limit = b, len(b)-1
		}
	}
	return best
}

// appendSequenceGrammar encodes one of the two grammars. It returns nil if that takes more than
// limit bytes.
func appendSequenceGrammar(values []int64, differences bool, limit int) []byte {
	terminals := map[int64]int32{}
	var dictionary []int64
	s := grammar.NewSequitur()
	before := int64(0)
	for _, v := range values {
		x := v
		if differences {
			x, before = v-before, v
		}
		terminal, known := terminals[x]
		if !known {
			if len(dictionary) > limit { // each takes at least a byte
				return nil
			}
			terminal = int32(len(dictionary))
			terminals[x] = terminal
			dictionary = append(dictionary, x)
		}
		s.Append(terminal)
	}
	b := binary.AppendUvarint(nil, uint64(len(values)))
	if differences {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	b = appendPieces(b, dictionary)
	if len(b) > limit {
		return nil
	}
	b = AppendGrammar(b, s.Grammar())
	if len(b) > limit {
		return nil
	}
	return b
}

// A SequenceGrammar is a sequence in the form of a grammar. It is immutable once it is read.
type SequenceGrammar struct {
	dictionary  []int64
	rules       grammar.Grammar
	differences bool // the dictionary contains differences between neighbors
}

// bytes is the memory taken from the budget for it.
func (g *SequenceGrammar) bytes() int64 { return int64(len(g.dictionary))*8 + g.rules.Bytes() }

// isGrammar reports whether the sequence is a grammar. Nothing of it may have been read yet.
func (r *sequenceReader) isGrammar() bool {
	return r.left > 0 && !r.begun && !r.plain && len(r.d.Rest) > 0 && r.d.Rest[0]>>pieceKindBits == 0
}

// startGrammar starts reading a sequence that is a grammar. Its head was the first byte.
func (r *sequenceReader) startGrammar() bool {
	if r.grammar == nil {
		r.grammar = r.d.sequenceGrammar(r.kind, r.left)
	}
	if r.d.Err != nil {
		return false
	}
	r.walk, r.kind, r.piece = r.grammar.rules.Walk(0), pieceGrammar, r.left
	return true
}

// sequenceGrammar reads the grammar of a sequence of n values.
func (d *Decoder) sequenceGrammar(head uint8, n uint64) *SequenceGrammar {
	if head > 1 {
		d.Fail(ErrSequence)
		return nil
	}
	g := &SequenceGrammar{dictionary: d.pieces(), differences: head == 1}
	d.Scratch = 0 // the dictionary stays; earlier temporary bytes belong to others
	g.rules = d.Grammar()
	if d.Err != nil {
		return nil
	}
	lengths, err := g.rules.Lengths()
	if err != nil || len(lengths) == 0 || lengths[0] != n {
		d.Fail(ErrSequence)
		return nil
	}
	for _, body := range g.rules.Rules {
		for _, symbol := range body {
			if !symbol.IsRule() && int(symbol.Value) >= len(g.dictionary) {
				d.Fail(ErrSequence)
				return nil
			}
		}
	}
	return g
}

func (r *sequenceReader) fillFromGrammar(dst []int64) bool {
	for i := range dst {
		terminal, ok := r.walk.Next()
		if !ok {
			r.d.Fail(ErrSequence)
			return false
		}
		if x := r.grammar.dictionary[terminal]; r.grammar.differences {
			r.value += x
		} else {
			r.value = x
		}
		dst[i] = r.value
	}
	return true
}
