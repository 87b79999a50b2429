package match

import (
	"strings"

	"github.com/cairn-mpi/cairn/trace"
)

// An action is what the matcher does with a call.
type action uint8

const (
	ignore action = iota
	send
	receive
	sendReceive
	matchedReceive // Mrecv, Imrecv
	probe
	pollProbe // Iprobe
	matchedProbe
	start
	startAll
	wait // and test: one request
	waitAny
	waitSome
	waitAll
	requestFree
	collective
	createGroup // communicator creation in which only the new members take part
	initialize
	finalize
	createObject // windows and files
	onObject     // a collective on one
	freeObject
	epochPost
	epochStart
	epochComplete
	epochWait
	takeLock
	giveLock
	makeGroup
	partitionReady
	partitionArrived
)

// timing is when an operation is posted and completed.
type timing uint8

const (
	blocking timing = iota
	nonblocking
	persistent
	split    // MPI_File_read_all_begin
	splitEnd // and its end
)

// A plan says how to read the calls of one function: where its arguments are in Event.In and Event.Out, −1 where
// there is none.
type plan struct {
	action action
	timing timing
	mode   Mode
	class  Class
	test   bool // returns at once, with a flag

	dest, source, tag, receiveTag int // In
	root                          int // In
	request                       int // In of completing calls, Out of creating ones
	message                       int // In of Mrecv, Out of Mprobe
	status, flag, count, index    int // Out
	object                        int // window or file: In, of creating calls Out
	window                        bool
	group, lockType               int // In
	partition, partitionEnd       int // In
	partitions                    int // In: into how many a message is divided
	graph                         graphArguments
}

// Class is how the participants of a collective operation depend on each other.
type Class uint8

// Classes of collective operations.
const (
	Barrier Class = iota
	AllToAll
	OneToAll
	AllToOne
	Prefix
	Neighbor
	Startup  // MPI_Init: some implementations synchronise
	Shutdown // MPI_Finalize: likewise
	Fence    // MPI_Win_fence: at most a barrier
	Window   // creation and end of a window: likewise
	File     // collectives of files: likewise
)

// Mode is how a send may complete.
type Mode uint8

// Modes of sends (MPI 4.0 §3.4).
const (
	Standard Mode = iota
	Buffered
	Synchronous
	Ready
)

// newPlan reads a function's class (the vocabulary is that of package mpi) and parameters.
func newPlan(f *trace.Function) plan {
	p := plan{dest: -1, source: -1, tag: -1, receiveTag: -1, root: -1, request: -1, message: -1, status: -1, flag: -1, count: -1, index: -1,
		object: -1, group: -1, lockType: -1, partition: -1, partitionEnd: -1, partitions: -1, graph: noGraph}
	words := strings.Fields(f.Class)
	if len(words) == 0 {
		return p
	}
	has := map[string]bool{}
	for _, w := range words[1:] {
		has[w] = true
	}
	switch {
	case has["nonblocking"]:
		p.timing = nonblocking
	case has["persistent"], has["partitioned"]:
		// A partitioned operation is active from its start: its partitions are no messages of their own.
		p.timing = persistent
	}
	switch {
	case has["buffered"]:
		p.mode = Buffered
	case has["synchronous"]:
		p.mode = Synchronous
	case has["ready"]:
		p.mode = Ready
	}
	p.test = strings.HasPrefix(words[0], "test")
	switch words[0] {
	case "send":
		p.action = send
	case "recv":
		p.action = receive
	case "sendrecv":
		p.action = sendReceive
	case "mrecv":
		p.action = matchedReceive
	case "imrecv":
		p.action, p.timing = matchedReceive, nonblocking
	case "probe":
		p.action = probe
	case "iprobe":
		p.action, p.test = pollProbe, true
	case "mprobe":
		p.action = matchedProbe
	case "improbe":
		p.action, p.test = matchedProbe, true
	case "start":
		p.action = start
	case "startall":
		p.action = startAll
	case "wait", "test":
		p.action = wait
	case "waitany", "testany":
		p.action = waitAny
	case "waitsome", "testsome":
		p.action = waitSome
	case "waitall", "testall":
		p.action = waitAll
	case "request-free":
		p.action = requestFree
	case "barrier":
		p.action, p.class = collective, Barrier
	case "all-to-all":
		p.action, p.class = collective, AllToAll
	case "one-to-all":
		p.action, p.class = collective, OneToAll
	case "all-to-one":
		p.action, p.class = collective, AllToOne
	case "prefix":
		p.action, p.class = collective, Prefix
	case "neighbor":
		p.action, p.class = collective, Neighbor
	case "comm-create":
		p.class = AllToAll
		switch {
		case has["collective"], has["merge"]:
			p.action = collective
		case has["group"], has["from-group"], has["intercomm"]:
			p.action = createGroup
		}
	case "partition-ready":
		p.action = partitionReady
	case "partition-arrived":
		p.action, p.test = partitionArrived, true
	case "group-create":
		p.action = makeGroup
	case "init":
		p.action, p.class = initialize, Startup
	case "finalize":
		p.action, p.class = finalize, Shutdown
	}
	p.oneSided(words[0], has)
	p.files(words[0], has)
	if p.action == ignore {
		return p
	}
	p.locate(f)
	if p.action == sendReceive && p.request < 0 {
		p.timing = blocking
	}
	return p
}

// locate finds the arguments.
func (p *plan) locate(f *trace.Function) {
	in, out := 0, 0
	completes := p.action == wait || p.action == waitAny || p.action == waitSome || p.action == waitAll ||
		p.action == start || p.action == startAll || p.action == requestFree || p.action == partitionReady || p.action == partitionArrived
	for _, a := range f.Parameters {
		isIn, isOut := a.Direction != trace.Out, a.Direction != trace.In
		switch a.Kind {
		case "rank", "root":
			if isIn {
				switch a.Name {
				case "dest":
					p.dest = in
				case "rank": // of MPI_Win_lock
					p.dest = in
				case "source":
					p.source = in
				case "root":
					p.root = in
				}
			}
		case "tag":
			if a.Name == "recvtag" {
				p.receiveTag = in
			} else {
				p.tag = in
			}
		case "request":
			if completes && isIn {
				p.request = in
			} else if !completes && isOut {
				p.request = out
			}
		case "message":
			if p.action == matchedReceive {
				p.message = in
			} else {
				p.message = out
			}
		case "status":
			p.status = out
		case "win", "file":
			p.window = a.Kind == "win"
			if p.action == createObject {
				p.object = out
			} else {
				p.object = in
			}
		case "group":
			if isIn && p.group < 0 {
				p.group = in
			}
		case "lock-type":
			p.lockType = in
		case "partition":
			if p.partition < 0 {
				p.partition = in
			} else {
				p.partitionEnd = in
			}
		case "bool":
			if isOut {
				p.flag = out
			}
		case "index":
			if isOut {
				p.index = out
			}
		}
		switch a.Name {
		case "outcount":
			p.count = out
		case "partitions":
			p.partitions = in
		}
		if isIn && p.action == collective && strings.HasPrefix(f.Class, "comm-create") {
			p.graph.find(a.Name, in)
		}
		if isIn {
			in++
		}
		if isOut {
			out++
		}
	}
}

// canFail tells whether a call that failed has done nothing.
func (p *plan) canFail() bool { return p.action <= matchedProbe || p.action >= createObject }

// missed tells whether a call asked in vain.
func (p *plan) missed(e *trace.Event) bool {
	return p.flag >= 0 && number(argument(e.Out, p.flag)) <= 0
}

// begins tells whether the call begins an operation now, and not one that is to be started later.
func (p *plan) begins() bool {
	switch p.action {
	case send, receive, sendReceive, collective:
		return p.timing != persistent
	case start, startAll:
		return true
	}
	return false
}

// oneSided reads the class of a function on windows.
func (p *plan) oneSided(operation string, has map[string]bool) {
	switch operation {
	case "win-create":
		p.action, p.class = createObject, Window
	case "win-free":
		p.action, p.class = freeObject, Window
	case "rma-sync":
		switch {
		case has["fence"]:
			p.action, p.class = onObject, Fence
		case has["post"]:
			p.action = epochPost
		case has["start"]:
			p.action = epochStart
		case has["complete"]:
			p.action = epochComplete
		case has["wait"], has["test"]:
			p.action, p.test = epochWait, has["test"]
		case has["lock"], has["lock-all"]:
			p.action = takeLock
		case has["unlock"], has["unlock-all"]:
			p.action = giveLock
		}
	}
}

// files reads the class of a function on files. Only collective ones concern other ranks.
func (p *plan) files(operation string, has map[string]bool) {
	switch operation {
	case "file-open":
		p.action, p.class = createObject, File
	case "file-close":
		p.action, p.class = freeObject, File
	case "file", "io":
		if !has["collective"] {
			return
		}
		p.action, p.class = onObject, File
		switch {
		case has["begin"]:
			p.timing = split
		case has["end"]:
			p.timing = splitEnd
		}
	}
}
