package checkpoint

import "slices"

// A Visitor is shown the values of a state in their order. It writes each to To, or replaces it by
// what it reads from From: one function of a type visits its fields for both.
type Visitor struct {
	To   *Encoder // nil: it reads
	From *Decoder
}

type integer interface {
	~int | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// visit visits a value that write writes and read reads.
func visit[T any](v Visitor, x *T, write func(*Encoder, T), read func(*Decoder) T) {
	if v.To != nil {
		write(v.To, *x)
	} else {
		*x = read(v.From)
	}
}

// Uint visits numbers that are not negative.
func Uint[T integer](v Visitor, values ...*T) {
	for _, x := range values {
		n := uint64(*x)
		visit(v, &n, (*Encoder).Uint, (*Decoder).Uint)
		*x = T(n)
	}
}

// Int visits signed numbers.
func Int[T integer](v Visitor, values ...*T) {
	for _, x := range values {
		n := int64(*x)
		visit(v, &n, (*Encoder).Int, (*Decoder).Int)
		*x = T(n)
	}
}

// Bool visits truth values.
func (v Visitor) Bool(values ...*bool) {
	for _, x := range values {
		visit(v, x, (*Encoder).Bool, (*Decoder).Bool)
	}
}

// Bytes visits bytes. Those that it reads are a copy.
func (v Visitor) Bytes(x *[]byte) {
	visit(v, x, (*Encoder).Bytes, func(d *Decoder) []byte { return slices.Clone(d.Bytes()) })
}

// Text visits a text.
func (v Visitor) Text(x *string) { visit(v, x, (*Encoder).Text, (*Decoder).Text) }

// List visits a list with element, which visits one of its elements. What is read is appended; an
// element takes at least one byte.
func List[S ~[]T, T any](v Visitor, list *S, element func(*T)) {
	if v.To != nil {
		v.To.Uint(uint64(len(*list)))
		for i := range *list {
			element(&(*list)[i])
		}
		return
	}
	for n := v.From.Count(); n > 0 && !v.From.Failed; n-- {
		*list = append(*list, *new(T))
		element(&(*list)[len(*list)-1])
	}
}

// Part visits a part of the state that has a function for each direction.
func (v Visitor) Part(encode func(*Encoder), decode func(*Decoder)) {
	if v.To != nil {
		encode(v.To)
	} else {
		decode(v.From)
	}
}

// Check marks the input as malformed if a value that was read is not valid.
func (v Visitor) Check(valid bool) {
	if v.To == nil && !valid {
		v.From.Fail()
	}
}
