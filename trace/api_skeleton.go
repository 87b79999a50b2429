package trace

// The functions of this file are announced so that other packages compile; each moves to its own file with its
// implementation.

import (
	"errors"
	"io"
)

var errNotYet = errors.New("trace: not implemented yet")

// AppendSignature appends the canonical encoding of s: two signatures are equal if and only if their bytes are.
func AppendSignature(b []byte, s *Signature) []byte { return b }

// DecodeSignature reads what AppendSignature wrote and returns the rest of b.
func DecodeSignature(b []byte) (Signature, []byte, error) { return Signature{}, nil, errNotYet }

// A SignatureTable maps encoded signatures to terminals, dense from 0 in order of first sight.
type SignatureTable struct{}

// NewSignatureTable returns an empty table.
func NewSignatureTable() *SignatureTable { return &SignatureTable{} }

// Terminal is the terminal of key (as of AppendSignature), a new one at first sight; key is copied.
func (t *SignatureTable) Terminal(key []byte) int32 { return 0 }

// Lookup is as Terminal, without adding.
func (t *SignatureTable) Lookup(key []byte) (terminal int32, ok bool) { return 0, false }

// Len is the number of terminals.
func (t *SignatureTable) Len() int { return 0 }

// Key is the encoded signature of a terminal; it must not be changed.
func (t *SignatureTable) Key(terminal int32) []byte { return nil }

// Signatures decodes the whole table.
func (t *SignatureTable) Signatures() []Signature { return nil }

// AppendGrammar appends the encoding of g.
func AppendGrammar(b []byte, g Grammar) []byte { return b }

// DecodeGrammar reads what AppendGrammar wrote and returns the rest of b.
func DecodeGrammar(b []byte) (Grammar, []byte, error) { return Grammar{}, nil, errNotYet }

// AppendSequence appends the compact encoding of values.
func AppendSequence(b []byte, values []int64) []byte { return b }

// DecodeSequence reads what AppendSequence wrote and returns the rest of b. It fails when there are more than
// limit values.
func DecodeSequence(b []byte, limit int) (values []int64, rest []byte, err error) {
	return nil, nil, errNotYet
}

// Write writes c as a trace file.
func Write(w io.Writer, c *Content) error { return errNotYet }

// An Option changes how a trace is opened.
type Option func(*Reader)

// WithMemoryLimit bounds the memory of a reader and its cursors, in bytes; default: 64 MiB + 8 × the file's size.
func WithMemoryLimit(bytes int64) Option { return func(*Reader) {} }

// A Reader reads a trace in pieces.
type Reader struct{}

// Open reads the index and what all ranks share.
func Open(r io.ReaderAt, size int64, options ...Option) (*Reader, error) { return nil, errNotYet }

// Meta is about the whole trace.
func (r *Reader) Meta() *Meta { return nil }

// Functions are all MPI functions that the trace uses.
func (r *Reader) Functions() []Function { return nil }

// Function is the one with this id, nil if there is none.
func (r *Reader) Function(id uint16) *Function { return nil }

// Sites are the call sites; Signature.Site is 1 + an index into them.
func (r *Reader) Sites() []Site { return nil }

// Signatures is the call signature table; the index is the terminal.
func (r *Reader) Signatures() []Signature { return nil }

// Communicators are all communicator instances.
func (r *Reader) Communicators() []Communicator { return nil }

// Grammar holds the rules of all threads.
func (r *Reader) Grammar() Grammar { return Grammar{} }

// Ranks are sorted by rank.
func (r *Reader) Ranks() []Rank { return nil }

// Threads are sorted by rank and thread; Gaps and Durations are nil (see Timing).
func (r *Reader) Threads() []Thread { return nil }

// Sequence decodes one value sequence.
func (r *Reader) Sequence(i int) ([]int64, error) { return nil, errNotYet }

// Timing reads gaps and durations of Threads()[thread], in ticks.
func (r *Reader) Timing(thread int) (gaps, durations []int64, err error) { return nil, nil, errNotYet }

// Sizes says where the bytes of the file are.
func (r *Reader) Sizes() Sizes { return Sizes{} }

// Content reads everything.
func (r *Reader) Content() (*Content, error) { return nil, errNotYet }

// Cursor decodes the calls of one thread in order.
func (r *Reader) Cursor(rank, thread int) (*Cursor, error) { return nil, errNotYet }

// Counts are the calls per rank and function, computed on the grammar.
func (r *Reader) Counts() ([]Count, error) { return nil, errNotYet }

// Cursor decodes the calls of one thread of c in order.
func (c *Content) Cursor(rank, thread int) (*Cursor, error) { return nil, errNotYet }

// Counts are the calls per rank and function, computed on the grammar.
func (c *Content) Counts() ([]Count, error) { return nil, errNotYet }

// A Count says how often a rank (all its threads) called a function.
type Count struct {
	Rank     int
	Function uint16
	Calls    uint64
}

// Sizes are in bytes as stored; the parts add up to Total.
type Sizes struct {
	Total      int64 `json:"total"`
	Container  int64 `json:"container"`
	Signatures int64 `json:"signatures"`
	Grammar    int64 `json:"grammar"`
	RankMap    int64 `json:"rank_map"`
	Values     int64 `json:"values"`
	Timing     int64 `json:"timing"`
	CallSites  int64 `json:"call_sites"`
	Pointers   int64 `json:"pointers"`
	Metadata   int64 `json:"metadata"`
}

// A Cursor decodes the calls of one thread in order.
type Cursor struct{}

// Next goes to the next call; false at the end or on an error.
func (c *Cursor) Next() bool { return false }

// Event is the current call, valid until the next call of Next.
func (c *Cursor) Event() *Event { return nil }

// Err is the error that ended the iteration, if any.
func (c *Cursor) Err() error { return nil }

// Text is the call as one line: MPI_Send(buf=…, count=4, datatype=MPI_INT, dest=1, tag=7, comm=MPI_COMM_WORLD) =
// MPI_SUCCESS.
func (e *Event) Text() string { return "" }

// AppendJSON appends the call as one JSON object.
func (e *Event) AppendJSON(b []byte) []byte { return b }
