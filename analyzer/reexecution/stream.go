package reexecution

import (
	"encoding/binary"
	"fmt"
	"io"
	"net/url"
	"path"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
)

// The stream of a thread is a sequence of little-endian words of 8 bytes, which ends with a call of
// function 0. A call is
//
//	function | flags << 16 | number of words that follow << 32
//	ns of computation before it
//	with flag 2, numbers: how many other threads it waits for, and for each of them the thread and
//	    the number of calls that it must have made
//	for each parameter, in order:
//	    its value before the call, unless it is an out parameter and not a buffer
//	    for an out parameter that is a handle or a list of them: the value after the call
//	    for an out parameter that is a list or a string: its maximum number of elements, a number
//
// The lowest three bits of the first word of a value are its type. The other bits are
//
//	0 number   signed
//	1 handle   symbolic id
//	2 constant id in the table of package mpi
//	3 list     number of values that follow
//	4 text     number of bytes that follow; after them a zero and padding to a word
//	5 absent
//	6 status   unused; five values follow: source, tag, error, cancelled, bytes
//
// replayer/stream.c reads it.
const (
	wordNumber = iota
	wordHandle
	wordConstant
	wordList
	wordText
	wordNothing
	wordStatus

	wordBits = 3
)

// Flags of a call.
const (
	FlagMayFail = 1 // it failed when it was recorded
	FlagAfter   = 2 // it has to wait for other threads
)

// maxTextOut is the maximum length of strings with a capacity that mpi.h defines:
// MPI_MAX_LIBRARY_VERSION_STRING is 8 KiB.
const maxTextOut = 64 << 10

// An Encoder writes the calls of a thread as a stream.
type Encoder struct {
	w       io.Writer
	scratch string
	words   []byte
}

// NewEncoder returns an encoder. Files are renamed into the folder scratch.
func NewEncoder(w io.Writer, scratch string) *Encoder { return &Encoder{w: w, scratch: scratch} }

// ScratchName returns the name of a file of the run in a scratch folder.
func ScratchName(name string) string {
	name = url.PathEscape(name)
	const longest = 200 // of at most 255 bytes in a file name
	if len(name) > longest {
		name = name[len(name)-longest:]
	}
	return name
}

// Call writes a call.
func (e *Encoder) Call(c *Call) error {
	e.words = append(e.words[:0], make([]byte, 16)...)
	if len(c.After) > 0 {
		e.word(wordNumber, int64(len(c.After)))
		for _, a := range c.After {
			e.word(wordNumber, int64(a.Thread))
			e.word(wordNumber, int64(a.Calls))
		}
	}
	in, out := 0, 0
	for i := range c.Function.Params {
		p := &c.Function.Params[i]
		var before, after *trace.Value
		if p.Direction.IsIn() {
			before = at(c.In, int8(in))
			in++
		}
		if p.Direction.IsOut() {
			after = at(c.Out, int8(out))
			out++
		}
		if err := e.parameter(c, p, before, after); err != nil {
			return fmt.Errorf("call %d, %s, parameter %d: %w", c.Index, c.Function.Name, i+1, err)
		}
	}
	var flags uint64
	if c.MayFail {
		flags |= FlagMayFail
	}
	if len(c.After) > 0 {
		flags |= FlagAfter
	}
	binary.LittleEndian.PutUint64(e.words, uint64(c.Function.ID)|flags<<16|uint64(len(e.words)/8-2)<<32)
	binary.LittleEndian.PutUint64(e.words[8:], uint64(max(c.Compute, 0)))
	_, err := e.w.Write(e.words)
	return err
}

// End ends the stream with a call of no function.
func (e *Encoder) End() error {
	_, err := e.w.Write(make([]byte, 16))
	return err
}

func (e *Encoder) parameter(c *Call, p *mpi.Param, before, after *trace.Value) error {
	switch p.Kind {
	case mpi.KindArgc, mpi.KindArgv:
		return nil // they are the replayer's own
	case mpi.KindBuffer:
		if before == nil {
			before = after
		}
		return e.value(before)
	case mpi.KindString:
		if p.Direction == mpi.In && before != nil && before.Form == trace.Text && NamesFile(c.Semantics) {
			name := trace.Value{Form: trace.Text, Text: path.Join(e.scratch, ScratchName(before.Text))}
			return e.value(&name)
		}
	default:
	}
	if p.Direction.IsIn() {
		if err := e.value(before); err != nil {
			return err
		}
	}
	if !p.Direction.IsOut() {
		return nil
	}
	if p.Kind.IsHandle() && p.Direction == mpi.Out {
		if err := e.value(after); err != nil {
			return err
		}
	}
	if p.IsArray() && p.Direction == mpi.Out || p.Kind == mpi.KindString {
		e.word(wordNumber, e.capacity(c, p, after))
	}
	return nil
}

// capacity returns the maximum number of elements of an out parameter: according to the call, but
// at least the actual number.
func (e *Encoder) capacity(c *Call, p *mpi.Param, after *trace.Value) int64 {
	n := int64(len(elements(after)))
	switch p.Length.Op {
	case mpi.TermNumber:
		n = max(n, int64(p.Length.Value))
	case mpi.TermConstant:
		n = max(n, maxTextOut)
	case mpi.TermParam:
		in := 0
		for i := range p.Length.Param {
			if c.Function.Params[i].Direction.IsIn() {
				in++
			}
		}
		n = max(n, number(at(c.In, int8(in)))+int64(p.Length.Value))
	default:
	}
	return n
}

// value writes a value; nil means absent.
func (e *Encoder) value(v *trace.Value) error {
	if v == nil {
		e.word(wordNothing, 0)
		return nil
	}
	switch v.Form {
	case trace.Int:
		if v.Int<<wordBits>>wordBits != v.Int {
			return fmt.Errorf("%d is too large a number", v.Int)
		}
		e.word(wordNumber, v.Int)
	case trace.Handle:
		e.word(wordHandle, v.Int)
	case trace.Name:
		c := mpi.ConstantByName(v.Text)
		if c == nil {
			return fmt.Errorf("%s is not known", v.Text)
		}
		e.word(wordConstant, int64(c.ID))
	case trace.Text:
		e.word(wordText, int64(len(v.Text)))
		e.words = append(e.words, v.Text...)
		e.words = append(e.words, make([]byte, 8-len(v.Text)%8)...)
	case trace.List:
		e.word(wordList, int64(len(v.List)))
		for i := range v.List {
			if err := e.value(&v.List[i]); err != nil {
				return err
			}
		}
	case trace.Status:
		if len(v.List) != statusParts {
			return fmt.Errorf("a status of %d parts", len(v.List))
		}
		e.word(wordStatus, 0)
		for i := range v.List {
			if err := e.value(&v.List[i]); err != nil {
				return err
			}
		}
	default: // a pointer, a function of the program, NULL, something insignificant
		e.word(wordNothing, 0)
	}
	return nil
}

func (e *Encoder) word(form uint64, v int64) {
	e.words = binary.LittleEndian.AppendUint64(e.words, uint64(v)<<wordBits|form)
}
