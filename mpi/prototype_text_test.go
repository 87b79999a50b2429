package mpi

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPrototypeTexts compares the spec with the text of mpi.h, for differences that the compiler
// does not see: MPICH's handles are ints, and so are counts, ranks and tags, so that two exchanged
// parameters still compile. Every parameter must have the same type as written, with const,
// pointers and brackets, and the same name. spellings_test.go lists where an implementation differs
// from the standard.
func TestPrototypeTexts(t *testing.T) {
	forEachImplementation(t, func(t *testing.T, mpi *implementation) {
		declared := mpi.declarations(t)
		compared, met := 0, map[int]int{}
		for i := range Functions {
			f := &Functions[i]
			text, ok := declared[f.Name]
			if f.ID == 0 || !ok {
				continue // TestPrototypes knows which ones are to be there
			}
			compared++
			if got, want := mpi.inOurWords(f, text, met), f.declarationTexts(); !slices.Equal(got, want) {
				t.Errorf("%s\n  mpi.h: %s\n  spec:  %s", f.Name, strings.Join(got, ", "), strings.Join(want, ", "))
			}
		}
		for n, s := range mpi.spellings {
			if met[n] != len(s.functions) {
				t.Errorf("mpi.h has %q in %d of %v", s.theirs, met[n], s.functions)
			}
		}
		// Open MPI 4.1.4 has 356 that are not macros.
		if compared < 350 {
			t.Errorf("only %d prototypes compared", compared)
		}
	})
}

// TestPrototypeTextsDiffer: declarations that are the same for the compiler are distinguished.
func TestPrototypeTextsDiffer(t *testing.T) {
	for _, pair := range [][2]string{
		{"MPI_Comm comm", "MPI_Group comm"},
		{"int dest", "int tag"},
		{"int ranks[]", "int *ranks"},
		{"const int ranks[]", "int ranks[]"},
		{"MPI_Count count", "MPI_Aint count"},
		{"char *argv[]", "char **argv[]"},
	} {
		if a, b := normalDeclaration(pair[0]), normalDeclaration(pair[1]); a == b {
			t.Errorf("%q and %q are both %q", pair[0], pair[1], a)
		}
	}
	for _, pair := range [][2]string{
		{"const int ranks[]", "int const ranks[]"},
		{"void * buf", "void *buf"},
		{"int ranges[][3]", "int ranges[] [3]"},
	} {
		if a, b := normalDeclaration(pair[0]), normalDeclaration(pair[1]); a != b {
			t.Errorf("%q is %q, %q is %q", pair[0], a, pair[1], b)
		}
	}
}

// declarationTexts is the function's parameters in normal form.
func (f *Function) declarationTexts() []string {
	var texts []string
	for i := range f.Params {
		texts = append(texts, normalDeclaration(f.Params[i].Declaration()))
	}
	return texts
}

var (
	tokenRE     = regexp.MustCompile(`\w+|\*|\[\w*\]|\.\.\.`)
	parameterRE = regexp.MustCompile(`(?s)\(([^()]*)\)\s*$`)
)

// normalDeclaration writes a parameter's declaration with const first and without spare room.
func normalDeclaration(text string) string {
	var words []string
	constant := false
	for _, token := range tokenRE.FindAllString(text, -1) {
		if token == "const" && !slices.Contains(words, "*") {
			constant = true
			continue
		}
		words = append(words, token)
	}
	if constant {
		words = append([]string{"const"}, words...)
	}
	return strings.Join(words, " ")
}

// inOurWords replaces what the implementation is known to spell differently, and marks the
// spellings as met.
func (mpi *implementation) inOurWords(f *Function, parameters []string, met map[int]int) []string {
	texts := slices.Clone(parameters)
	for n, s := range mpi.spellings {
		if !slices.Contains(s.functions, f.Name) {
			continue
		}
		if i := slices.Index(texts, s.theirs); i >= 0 {
			texts[i] = s.ours
			met[n]++
		}
	}
	return texts
}

// declarations returns the parameters of the MPI functions in mpi.h, in normal form.
func (mpi *implementation) declarations(t *testing.T) map[string][]string {
	t.Helper()
	declarations := make(map[string][]string)
	for statement := range strings.SplitSeq(attributeRE.ReplaceAllString(mpi.preprocess(t, "", "-P"), ""), ";") {
		m := declarationRE.FindStringSubmatch(statement)
		if m == nil || strings.Contains(statement, "typedef") {
			continue
		}
		list := parameterRE.FindStringSubmatch(statement)
		if list == nil {
			t.Fatalf("no parameters in %q", statement)
		}
		var parameters []string
		for parameter := range strings.SplitSeq(list[1], ",") {
			if p := normalDeclaration(parameter); p != "void" && p != "..." {
				parameters = append(parameters, p)
			}
		}
		declarations[m[1]] = parameters
	}
	return declarations
}

// TestNamesHaveTheirKind: in C, ranks, tags, flags and many others are ints. TestPrototypeTexts
// ensures that names are those of mpi.h; here the kinds follow from the names.
func TestNamesHaveTheirKind(t *testing.T) {
	names := map[string]Kind{
		"dest": KindRank, "source": KindRank, "target_rank": KindRank, "root": KindRoot,
		"tag": KindTag, "sendtag": KindTag, "recvtag": KindTag, "color": KindColor,
		"flag": KindBool, "commute": KindBool, "reorder": KindBool, "high": KindBool,
		"sendcount": KindCount, "recvcount": KindCount, "sendcounts": KindCount, "recvcounts": KindCount,
		"origin_count": KindCount, "target_count": KindCount, "sdispls": KindDispl, "rdispls": KindDispl, "displs": KindDispl,
		"target_disp": KindAint, "disp_unit": KindDispUnit, "offset": KindOffset, "amode": KindAccessMode,
		"array_of_indices": KindIndex, "errorcode": KindErrorCode, "errorclass": KindErrorClass,
		"lock_type": KindLockType, "split_type": KindSplitType, "combiner": KindCombiner, "order": KindOrdering,
		"required": KindThreadLevel, "provided": KindThreadLevel, "whence": KindWhence, "coords": KindCoord,
		"oldtype": KindDatatype, "newtype": KindDatatype, "sendtype": KindDatatype, "recvtype": KindDatatype,
		"array_of_requests": KindRequest, "array_of_statuses": KindStatus, "partition": KindPartition,
	}
	met := map[string]bool{}
	for i := range Functions {
		for j := range Functions[i].Params {
			p := &Functions[i].Params[j]
			if kind, ok := names[p.Name]; ok {
				met[p.Name] = true
				if Functions[i].Name == "MPI_Abort" && p.Name == "errorcode" {
					kind = KindInt // no code of MPI's, but the program's own
				}
				if p.Kind != kind {
					t.Errorf("%s, %s: kind %s, want %s", Functions[i].Name, p.Name, p.Kind, kind)
				}
			}
		}
	}
	for name := range names {
		if !met[name] {
			t.Errorf("no parameter is called %s", name)
		}
	}
}
