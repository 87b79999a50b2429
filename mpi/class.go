package mpi

import "strings"

// Class is what a function does, as words: the operation, then details. Traces
// contain it as text. Package semantics interprets it once per function; the
// recorder and the analyzers use the result.
//
// The operations and the words that may follow, with `|` between alternatives
// and [] around optional words:
//
//	send            blocking|nonblocking|persistent|partitioned
//	                standard|buffered|synchronous|ready
//	recv            blocking|nonblocking|persistent|partitioned
//	sendrecv        blocking|nonblocking [replace]
//	mrecv imrecv    receive a matched message
//	probe iprobe mprobe improbe
//	start startall  of persistent requests
//	partition-ready [range|list]     partition-arrived
//	wait waitany waitsome waitall test testany testsome testall
//	request-status  [all|any|some]   tests without completing
//	request-free cancel
//	grequest        start|complete
//	status          query|set|convert
//	buffer          attach|detach|flush|iflush   of buffered sends
//
//	barrier one-to-all all-to-one all-to-all prefix neighbor
//	                blocking|nonblocking|persistent: the collectives. neighbor
//	                is between neighbors in the topology only
//
//	comm-create     how the communicator is created and gets its name:
//	                collective over the parent, group (only its members call),
//	                from-group (no parent), intercomm, merge, connect, accept,
//	                spawn, join; then blocking|nonblocking
//	comm-free       blocking [disconnect]
//
//	rma             put|get|accumulate|get-accumulate|fetch-and-op|
//	                compare-and-swap [request]
//	rma-sync        fence|start|complete|post|wait|test|lock|lock-all|unlock|
//	                unlock-all|flush|flush-all|flush-local|flush-local-all|sync
//	win-create win-free              blocking collectives
//	win-memory      attach|detach
//
//	file-open file-close             blocking collectives
//	io              read|write  explicit|individual|shared
//	                independent|collective blocking|nonblocking|begin|end
//	file            delete|seek|sync|set-size|preallocate|set-view|
//	                set-atomicity [collective]
//
//	datatype-create datatype-free datatype-commit
//	group-create group-free op-create op-free
//	info-create info-free info       set|delete
//	errhandler-create errhandler-free errhandler  set|call
//	error           add|remove
//	keyval-create keyval-free attribute  set|delete
//	session-create session-free
//	set             name|info of an object [collective]
//	port            open|close       name-service  publish|unpublish|lookup
//	pack unpack reduce-local memory-alloc memory-free datarep
//	                local work
//	init finalize abort
//	query           local, without changes; also the calls that return an
//	                object's group, info or errhandler; parent: returns the
//	                communicator to the world that spawned this one
//	time            MPI_Wtime, MPI_Wtick
//	pcontrol
//	convert         between C and Fortran handles
//	tool            query|init|finalize|handle|session|read|write|control|callback:
//	                the tool interface
type Class string

// Op returns the operation: the first word.
func (c Class) Op() string {
	op, _, _ := strings.Cut(string(c), " ")
	return op
}

// Has reports whether one of the words is w.
func (c Class) Has(w string) bool {
	for word := range strings.FieldsSeq(string(c)) {
		if word == w {
			return true
		}
	}
	return false
}

// IsCollective reports whether all processes of a communicator, or of the
// group behind a window or file, have to make the call.
func (c Class) IsCollective() bool {
	switch c.Op() {
	case "comm-create":
		return !c.Has("join") // between two processes over a socket
	case "barrier", "one-to-all", "all-to-one", "all-to-all", "prefix", "neighbor",
		"comm-free", "win-create", "win-free", "file-open", "file-close":
		return true
	}
	return c.Has("collective") || c == "rma-sync fence"
}

// vocabulary has, for each operation, the words that may follow it.
var vocabulary = map[string]string{
	"send":              "blocking nonblocking persistent partitioned standard buffered synchronous ready",
	"recv":              "blocking nonblocking persistent partitioned",
	"sendrecv":          "blocking nonblocking replace",
	"mrecv":             "",
	"imrecv":            "",
	"probe":             "",
	"iprobe":            "",
	"mprobe":            "",
	"improbe":           "",
	"start":             "",
	"startall":          "",
	"partition-ready":   "range list",
	"partition-arrived": "",
	"wait":              "",
	"waitany":           "",
	"waitsome":          "",
	"waitall":           "",
	"test":              "",
	"testany":           "",
	"testsome":          "",
	"testall":           "",
	"request-status":    "all any some",
	"request-free":      "",
	"cancel":            "",
	"grequest":          "start complete",
	"status":            "query set convert",
	"buffer":            "attach detach flush iflush",

	"barrier":    "blocking nonblocking persistent",
	"one-to-all": "blocking nonblocking persistent",
	"all-to-one": "blocking nonblocking persistent",
	"all-to-all": "blocking nonblocking persistent",
	"prefix":     "blocking nonblocking persistent",
	"neighbor":   "blocking nonblocking persistent",

	"comm-create": "collective group from-group intercomm merge connect accept spawn join blocking nonblocking",
	"comm-free":   "blocking disconnect",

	"rma":        "put get accumulate get-accumulate fetch-and-op compare-and-swap request",
	"rma-sync":   "fence start complete post wait test lock lock-all unlock unlock-all flush flush-all flush-local flush-local-all sync",
	"win-create": "blocking",
	"win-free":   "blocking",
	"win-memory": "attach detach",

	"file-open":  "blocking",
	"file-close": "blocking",
	"io":         "read write explicit individual shared independent collective blocking nonblocking begin end",
	"file":       "delete seek sync set-size preallocate set-view set-atomicity collective",

	"datatype-create":   "",
	"datatype-free":     "",
	"datatype-commit":   "",
	"group-create":      "",
	"group-free":        "",
	"op-create":         "",
	"op-free":           "",
	"info-create":       "",
	"info-free":         "",
	"info":              "set delete",
	"errhandler-create": "",
	"errhandler-free":   "",
	"errhandler":        "set call",
	"error":             "add remove",
	"keyval-create":     "",
	"keyval-free":       "",
	"attribute":         "set delete",
	"session-create":    "",
	"session-free":      "",
	"set":               "name info collective",
	"port":              "open close",
	"name-service":      "publish unpublish lookup",
	"pack":              "",
	"unpack":            "",
	"reduce-local":      "",
	"memory-alloc":      "",
	"memory-free":       "",
	"datarep":           "",
	"init":              "",
	"finalize":          "",
	"abort":             "",
	"query":             "parent",
	"time":              "",
	"pcontrol":          "",
	"convert":           "",
	"tool":              "query init finalize handle session read write control callback",
}

// Valid reports whether the class is within the vocabulary.
func (c Class) Valid() bool {
	words := strings.Fields(string(c))
	if len(words) == 0 {
		return false
	}
	allowed, ok := vocabulary[words[0]]
	if !ok {
		return false
	}
	for _, w := range words[1:] {
		if !Class(allowed).Has(w) {
			return false
		}
	}
	return true
}
