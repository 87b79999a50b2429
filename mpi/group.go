package mpi

import (
	"fmt"
	"slices"
	"strings"
)

// A Group is a set of functions that a user can leave out of a trace with `--exclude` or
// spec.tracing.exclude.
type Group string

// The groups. Every function belongs to exactly one.
const (
	GroupPointToPoint Group = "p2p"        // sends, receives, probes, and operations on requests
	GroupCollective   Group = "collective" // barriers to scans, including neighborhood collectives
	GroupComm         Group = "comm"       // communicators and groups of processes
	GroupRMA          Group = "rma"        // windows, one-sided communication and its synchronization
	GroupIO           Group = "io"         // files
	GroupDatatype     Group = "datatype"   // constructors, packing
	GroupQuery        Group = "query"      // local queries: ranks, sizes, names, the time
	GroupTool         Group = "tool"       // the tool interface
	// the rest: start and end, info, attributes, error handlers, dynamic processes
	GroupEnvironment Group = "environment"
)

// Groups lists all groups in the order of their numbers.
var Groups = []Group{
	GroupPointToPoint, GroupCollective, GroupComm, GroupRMA, GroupIO, GroupDatatype, GroupQuery, GroupTool, GroupEnvironment,
}

// groupOf maps operations to groups. All others are in GroupEnvironment.
var groupOf = func() map[string]Group {
	groups := map[string]Group{}
	for group, ops := range map[Group]string{
		GroupPointToPoint: "send recv sendrecv mrecv imrecv probe iprobe mprobe improbe start startall partition-ready " +
			"partition-arrived wait waitany waitsome waitall test testany testsome testall request-status request-free " +
			"cancel grequest status buffer",
		GroupCollective: "barrier one-to-all all-to-one all-to-all prefix neighbor reduce-local",
		GroupComm:       "comm-create comm-free group-create group-free",
		GroupRMA:        "rma rma-sync win-create win-free win-memory",
		GroupIO:         "file-open file-close io file datarep",
		GroupDatatype:   "datatype-create datatype-free datatype-commit pack unpack",
		GroupQuery:      "query time convert",
		GroupTool:       "tool",
	} {
		for op := range strings.FieldsSeq(ops) {
			groups[op] = group
		}
	}
	return groups
}()

// Group returns the group of functions of this class.
func (c Class) Group() Group {
	if g, ok := groupOf[c.Op()]; ok {
		return g
	}
	return GroupEnvironment
}

// AlwaysRecorded reports whether the function is recorded even while tracing is off or when its
// group is left out, because it creates, frees or changes a handle, or begins or ends something.
func (f *Function) AlwaysRecorded() bool {
	for i := range f.Params {
		if f.Params[i].Effect != EffectNone {
			return true
		}
	}
	switch f.Class.Op() {
	case "init", "finalize", "abort", "session-create", "session-free", "comm-create", "comm-free", "pcontrol", "set":
		return true
	}
	return false
}

// ParseGroups parses the names of groups, and sorts them.
func ParseGroups(names []string) ([]Group, error) {
	var groups []Group
	for _, name := range names {
		if !slices.Contains(Groups, Group(name)) {
			return nil, fmt.Errorf("%q is no group of functions; the groups are %s", name, joinGroups(Groups))
		}
		groups = append(groups, Group(name))
	}
	slices.Sort(groups)
	return slices.Compact(groups), nil
}

func joinGroups(groups []Group) string {
	names := make([]string, len(groups))
	for i, g := range groups {
		names[i] = string(g)
	}
	return strings.Join(names, ", ")
}

// Excluded returns the groups that are left out of a trace: those that are not in include (unless
// include is empty), and those in exclude.
func Excluded(include, exclude []Group) []Group {
	var out []Group
	for _, g := range Groups {
		if slices.Contains(exclude, g) || len(include) > 0 && !slices.Contains(include, g) {
			out = append(out, g)
		}
	}
	slices.Sort(out)
	return out
}
