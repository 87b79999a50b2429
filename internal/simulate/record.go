package simulate

import (
	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/tracer/recorder"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// Raw values of the simulated MPI library: those of MPICH.
const (
	rawCommNull    = 0x04000000
	rawCommWorld   = 0x44000000
	rawCommSelf    = 0x44000001
	rawRequestNull = 0x2c000000
	rawByte        = 0x4c00010d
	rawSum         = 0x58000003
	rawFirstHandle = 0x6c000000 // of requests; those of communicators are a little higher
	rawFirstComm   = 0x74000000
	rawBuffer      = 0x7f0000001000
	undefined      = -32766

	// AnySource and AnyTag are the wildcards.
	AnySource = -2
	AnyTag    = -1
	procNull  = -1
)

var constants = []record.Constant{
	{Kind: "comm", Name: "MPI_COMM_NULL", Value: rawCommNull},
	{Kind: "comm", Name: "MPI_COMM_WORLD", Value: rawCommWorld},
	{Kind: "comm", Name: "MPI_COMM_SELF", Value: rawCommSelf},
	{Kind: "request", Name: "MPI_REQUEST_NULL", Value: rawRequestNull},
	{Kind: "datatype", Name: "MPI_BYTE", Value: rawByte},
	{Kind: "op", Name: "MPI_SUM", Value: rawSum},
	{Kind: "rank", Name: "MPI_ANY_SOURCE", Value: address(AnySource)},
	{Kind: "rank", Name: "MPI_PROC_NULL", Value: address(procNull)},
	{Kind: "tag", Name: "MPI_ANY_TAG", Value: address(AnyTag)},
	{Kind: "index", Name: "MPI_UNDEFINED", Value: address(undefined)},
	{Kind: "color", Name: "MPI_UNDEFINED", Value: address(undefined)},
}

func address(v int64) record.Address { return record.Address(v) }

func id(name string) uint16 { return mpi.ByName(name).ID }

var (
	idInit, idFinalize           = id("MPI_Init"), id("MPI_Finalize")
	idSend, idSsend, idRecv      = id("MPI_Send"), id("MPI_Ssend"), id("MPI_Recv")
	idIsend, idIrecv             = id("MPI_Isend"), id("MPI_Irecv")
	idWait, idWaitany, idWaitall = id("MPI_Wait"), id("MPI_Waitany"), id("MPI_Waitall")
	idSendrecv, idBarrier        = id("MPI_Sendrecv"), id("MPI_Barrier")
	idBcast, idReduce            = id("MPI_Bcast"), id("MPI_Reduce")
	idAllreduce, idAlltoall      = id("MPI_Allreduce"), id("MPI_Alltoall")
	idSplit, idCommFree          = id("MPI_Comm_split"), id("MPI_Comm_free")
	idCartCreate                 = id("MPI_Cart_create")
)

// Types of record arguments that are longer than a word (docs/decisions/0001-seams.md, "Raw
// records").
type (
	array    []int64
	statuses []Status
)

// In the log, a record is as in a record buffer except for its header, which has these words.
const (
	logLength = iota // in words, including the header
	logFunction
	logEnter
	logExit
	logAddress
)

// codeBase is the address at which the program is mapped. The offset of a call site is its line.
const (
	codeBase  = 0x400000
	codeLimit = 0x500000
)

// record records a call that lasted from enter to r.now, with inputs, outputs and extras in order.
func (r *Rank) record(function uint16, enter int64, arguments ...any) {
	start := len(r.log)
	r.log = append(r.log, make([]uint64, record.HeaderWords)...)
	for _, a := range arguments {
		switch a := a.(type) {
		case int:
			r.log = append(r.log, uint64(a))
		case int64:
			r.log = append(r.log, uint64(a))
		case array:
			r.log = append(r.log, uint64(len(a)))
			for _, x := range a {
				r.log = append(r.log, uint64(x))
			}
		case Status:
			r.log = append(r.log, 0)
			r.log = a.appendTo(r.log)
		case statuses:
			r.log = append(r.log, 0, uint64(len(a)))
			for _, s := range a {
				r.log = s.appendTo(r.log)
			}
		case description:
			r.log = a.appendTo(r.log)
		}
	}
	ticks := BootNS + r.sim.skew(r.rank)
	r.log[start+logLength] = uint64(len(r.log) - start)
	r.log[start+logFunction] = uint64(function)
	r.log[start+logEnter], r.log[start+logExit] = uint64(ticks+enter), uint64(ticks+r.now)
	if r.sim.config.CallSites != "none" {
		r.log[start+logAddress] = uint64(codeBase + r.line)
	}
	r.calls++
	if r.sim.config.Evidence {
		r.seen(function, enter)
	}
	if len(r.log) > logWords {
		r.encode()
	}
}

// logWords limits the records that a rank keeps before they are encoded: few, since there may be
// many ranks.
const logWords = 8 << 10

// encode passes the records so far to the recorder.
func (r *Rank) encode() {
	if r.rec == nil {
		p := r.sim.process(r.rank)
		r.rec = recorder.New(&p)
	}
	for at := 0; at < len(r.log); {
		words := r.log[at : at+int(r.log[at+logLength])]
		at += len(words)
		r.rec.Record(0, &recorder.Call{
			Function: uint16(words[logFunction]), Enter: int64(words[logEnter]), Exit: int64(words[logExit]),
			Address: words[logAddress], Words: words,
		})
	}
	r.log = r.log[:0]
}

// A Status is the status of a received message.
type Status struct {
	Source, Tag, Bytes int
}

func (s Status) appendTo(words []uint64) []uint64 {
	return append(words, uint64(uint32(s.Source))|uint64(uint32(s.Tag))<<32, 0, uint64(s.Bytes))
}

// A description is what the shim appends to the record of a new communicator.
type description struct {
	comm           *Comm
	extent, at     []int
	periodic, cart bool
}

// longestGroup is the largest group that fits into a record.
const longestGroup = 4096

func (d description) appendTo(words []uint64) []uint64 {
	topology := uint64(0)
	if d.cart {
		topology = 1
	}
	words = append(words, uint64(d.comm.raw), uint64(d.comm.own), uint64(d.comm.size), 0, 0, topology)
	if d.comm.size > longestGroup {
		words = append(words, ^uint64(2)) // −3: it did not fit
	} else {
		words = append(words, uint64(d.comm.size))
		for i := range d.comm.size {
			words = append(words, uint64(d.comm.worldRank(i)))
		}
	}
	words = append(words, 0) // no remote group
	list := func(n int, value func(i int) int) {
		words = append(words, uint64(n))
		for i := range n {
			words = append(words, uint64(value(i)))
		}
	}
	list(len(d.extent), func(i int) int { return d.extent[i] })
	list(len(d.extent), func(int) int {
		if d.periodic {
			return 1
		}
		return 0
	})
	list(len(d.at), func(i int) int { return d.at[i] })
	return words
}
