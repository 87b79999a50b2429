package trace

import "github.com/cairn-mpi/cairn/trace/codec"

// A sectionWriter writes sections of a trace: codec.SectionWriter, and what only a trace has.
type sectionWriter struct{ *codec.SectionWriter }

func newSection() *sectionWriter { return &sectionWriter{codec.NewSectionWriter()} }

// A decoder reads what a trace has: codec.Decoder, and what only a trace has.
type decoder struct{ *codec.Decoder }

// newDecoder reads b, within a budget.
func newDecoder(b []byte, m *codec.Budget) *decoder {
	return &decoder{&codec.Decoder{Rest: b, Budget: m}}
}

// sectionDecoder reads a section, which begins with its strings.
func sectionDecoder(b []byte, m *codec.Budget) *decoder {
	return &decoder{codec.NewSectionDecoder(b, m)}
}
