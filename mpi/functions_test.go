package mpi

import (
	"slices"
	"strings"
	"testing"
)

// all yields the functions that exist.
func all(yield func(*Function) bool) {
	for i := range Functions {
		if Functions[i].ID != 0 && !yield(&Functions[i]) {
			return
		}
	}
}

// TestLookup makes sure that the index, the id and the name agree.
func TestLookup(t *testing.T) {
	for i := range Functions {
		f := &Functions[i]
		switch {
		case f.ID == 0:
			if f.Name != "" || ByID(uint16(i)) != nil {
				t.Errorf("index %d: a function without an id", i)
			}
		case int(f.ID) != i || ByID(f.ID) != f || ByName(f.Name) != f:
			t.Errorf("%s: id %d at index %d", f.Name, f.ID, i)
		}
	}
	for i := range Constants {
		if c := &Constants[i]; c.ID != 0 && (int(c.ID) != i || ConstantByName(c.Name) != c) {
			t.Errorf("%s: id %d at index %d", c.Name, c.ID, i)
		}
	}
	if ByName("MPI_Sned") != nil || ByID(0) != nil || ByID(65535) != nil || ConstantByName("MPI_NIL") != nil {
		t.Error("something found that is not there")
	}
}

// TestCounts holds the number of functions that each version of the standard
// has, so that none is lost unnoticed.
func TestCounts(t *testing.T) {
	for _, c := range []struct {
		version Version
		want    int
	}{{301, 411}, {400, 633}, {401, 662}} {
		n := 0
		for f := range all {
			if f.Since <= c.version && (f.Removed == 0 || f.Removed > c.version) {
				n++
			}
		}
		if n != c.want {
			t.Errorf("MPI %d.%d has %d functions, want %d", c.version.Major(), c.version.Minor(), n, c.want)
		}
	}
}

// TestLargeCounts checks that a large-count form differs from the other in
// types only, except for the two queries that return more there (MPI 4.0
// §5.1.13).
func TestLargeCounts(t *testing.T) {
	for f := range all {
		if f.Large == 0 {
			if strings.HasSuffix(f.Name, "_c") && f.Small == 0 {
				t.Errorf("%s has no small form", f.Name)
			}
			continue
		}
		large := ByID(f.Large)
		if large.Name != f.Name+"_c" || large.Small != f.ID || large.Class != f.Class {
			t.Errorf("%s and %s do not belong together", f.Name, large.Name)
		}
		if f.Name == "MPI_Type_get_envelope" || f.Name == "MPI_Type_get_contents" {
			continue
		}
		same := slices.EqualFunc(f.Params, large.Params, func(p, q Param) bool {
			return p.Name == q.Name && p.Kind == q.Kind && p.Direction == q.Direction
		})
		if !same {
			t.Errorf("%s and %s have different parameters", f.Name, large.Name)
		}
		if f.Prototype("f") == large.Prototype("f") {
			t.Errorf("%s is the same as %s", large.Name, f.Name)
		}
	}
}

// operationHandles is the effect of an operation's functions on handles: exactly one parameter of
// the kind has the effect.
var operationHandles = map[string]struct {
	effect Effect
	kind   Kind
}{
	"start": {EffectStarted, KindRequest}, "startall": {EffectStarted, KindRequest},
	"wait": {EffectCompleted, KindRequest}, "waitany": {EffectCompleted, KindRequest},
	"waitsome": {EffectCompleted, KindRequest}, "waitall": {EffectCompleted, KindRequest},
	"test": {EffectCompleted, KindRequest}, "testany": {EffectCompleted, KindRequest},
	"testsome": {EffectCompleted, KindRequest}, "testall": {EffectCompleted, KindRequest},
	"request-free": {EffectFreed, KindRequest},
	"mprobe":       {EffectNew, KindMessage}, "improbe": {EffectNew, KindMessage},
	"mrecv": {EffectConsumed, KindMessage}, "imrecv": {EffectConsumed, KindMessage},
	"comm-create": {EffectNew, KindComm}, "comm-free": {EffectFreed, KindComm},
	"win-create": {EffectNew, KindWin}, "win-free": {EffectFreed, KindWin},
	"file-open": {EffectNew, KindFile}, "file-close": {EffectFreed, KindFile},
	"datatype-free": {EffectFreed, KindDatatype}, "datatype-commit": {EffectKept, KindDatatype},
	"group-create": {EffectNew, KindGroup}, "group-free": {EffectFreed, KindGroup},
	"op-create": {EffectNew, KindOp}, "op-free": {EffectFreed, KindOp},
	"info-create": {EffectNew, KindInfo}, "info-free": {EffectFreed, KindInfo},
	"errhandler-create": {EffectNew, KindErrhandler}, "errhandler-free": {EffectFreed, KindErrhandler},
	"keyval-create": {EffectNew, KindKeyval}, "keyval-free": {EffectFreed, KindKeyval},
	"session-create": {EffectNew, KindSession}, "session-free": {EffectFreed, KindSession},
}

// TestClasses checks that the classes and the effects on handles agree.
func TestClasses(t *testing.T) {
	for f := range all {
		if h, ok := operationHandles[f.Class.Op()]; ok && f.countEffects(h.effect, h.kind) != 1 {
			t.Errorf("%s (%s): want one %s %s", f.Name, f.Class, h.kind, h.effect)
		}
		wantRequests := 0
		for _, w := range []string{"nonblocking", "persistent", "partitioned", "imrecv", "iflush", "request"} {
			if f.Class.Has(w) {
				wantRequests = 1
			}
		}
		if f.Class == "grequest start" {
			wantRequests = 1
		}
		if got := f.countEffects(EffectNew, KindRequest); got != wantRequests {
			t.Errorf("%s (%s) creates %d requests, want %d", f.Name, f.Class, got, wantRequests)
		}
		if f.Class.Op() == "query" {
			for _, e := range []Effect{EffectFreed, EffectCompleted, EffectStarted, EffectConsumed, EffectKept} {
				for _, k := range Kinds() {
					if f.countEffects(e, k) > 0 {
						t.Errorf("%s only queries, and yet a %s is %s", f.Name, k, e)
					}
				}
			}
		}
		if f.Class.Op() == "send" {
			modes := 0
			for _, w := range []string{"standard", "buffered", "synchronous", "ready"} {
				if f.Class.Has(w) {
					modes++
				}
			}
			if modes != 1 {
				t.Errorf("%s has %d send modes", f.Name, modes)
			}
		}
	}
}

func (f *Function) countEffects(e Effect, k Kind) int {
	n := 0
	for i := range f.Params {
		if f.Params[i].Effect == e && f.Params[i].Kind == k {
			n++
		}
	}
	return n
}

// TestReferredConstants makes sure that the constants which parameters refer
// to are in the table.
func TestReferredConstants(t *testing.T) {
	for f := range all {
		for i := range f.Params {
			p := &f.Params[i]
			for _, term := range []Term{p.Length, p.Defined} {
				if term.Op == TermConstant && ConstantByName(term.Name) == nil {
					t.Errorf("%s: %s: no constant %s", f.Name, p.Name, term.Name)
				}
			}
			for _, s := range p.Sentinels {
				if c := ConstantByName(s); c == nil || !c.Pointer || !c.IsKind(p.Kind) {
					t.Errorf("%s: %s: no pointer constant %s of kind %s", f.Name, p.Name, s, p.Kind)
				}
			}
		}
	}
}

// TestKinds checks that every kind has a name and is used.
func TestKinds(t *testing.T) {
	used := make(map[Kind]bool)
	for f := range all {
		used[f.Return] = true
		for i := range f.Params {
			used[f.Params[i].Kind] = true
		}
	}
	for i := range Constants {
		for _, k := range Constants[i].Kinds {
			used[k] = true
		}
	}
	for _, k := range Kinds() {
		if got, ok := KindByName(k.String()); !ok || got != k {
			t.Errorf("kind %d is called %q", k, k)
		}
		if !used[k] {
			t.Errorf("kind %s is not used", k)
		}
	}
}

func TestIsCollective(t *testing.T) {
	for name, want := range map[string]bool{
		"MPI_Ibarrier": true, "MPI_Neighbor_alltoallw_init": true, "MPI_Comm_dup": true, "MPI_Comm_create_group": true,
		"MPI_Win_fence": true, "MPI_File_read_all_begin": true, "MPI_File_set_size": true, "MPI_Win_set_info": true,
		"MPI_Send": false, "MPI_Comm_join": false, "MPI_Comm_rank": false, "MPI_Win_lock_all": false,
		"MPI_File_read_shared": false, "MPI_Group_union": false,
	} {
		if got := ByName(name).Class.IsCollective(); got != want {
			t.Errorf("%s collective: %v", name, got)
		}
	}
}
