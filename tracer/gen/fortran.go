package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// A fortranSymbol is a name under which Fortran libraries export an MPI procedure, as
// compilers mangle it.
type fortranSymbol struct {
	name      string
	function  *mpi.Function // the C function that the Fortran layer calls
	profiling bool          // a name of the profiling interface
}

// fortranOnly has procedures that are another form of a C function, by their name in lower case.
var fortranOnly = map[string]string{
	"mpi_aint_add_f90":             "MPI_Aint_add",
	"mpi_aint_diff_f90":            "MPI_Aint_diff",
	"mpi_alloc_mem_cptr":           "MPI_Alloc_mem",
	"mpi_wtick_f90":                "MPI_Wtick",
	"mpi_wtime_f90":                "MPI_Wtime",
	"mpi_win_allocate_cptr":        "MPI_Win_allocate",
	"mpi_win_allocate_shared_cptr": "MPI_Win_allocate_shared",
	"mpi_win_shared_query_cptr":    "MPI_Win_shared_query",
}

// fortranAdapted has the functions whose Fortran layer does not, or not always, call the C function
// of the same name: in Open MPI all of them, in MPICH those that access attributes. Procedures
// without an error argument are included as well (MPI_Pcontrol, MPI_Wtime, MPI_Wtick): nothing
// follows the call of the C function, so compilers make it a jump, and the caller is lost.
// tracer/shim/fortran/fortran_adapters.c has an adapter for each.
var fortranAdapted = map[string][]string{
	"MPI_Aint_add":               {"CAIRN_OPENMPI"},
	"MPI_Aint_diff":              {"CAIRN_OPENMPI"},
	"MPI_Attr_get":               {"CAIRN_OPENMPI", "CAIRN_MPICH"},
	"MPI_Attr_put":               {"CAIRN_OPENMPI", "CAIRN_MPICH"},
	"MPI_Comm_create_errhandler": {"CAIRN_OPENMPI"},
	"MPI_Comm_create_keyval":     {"CAIRN_OPENMPI"},
	"MPI_Comm_get_attr":          {"CAIRN_OPENMPI", "CAIRN_MPICH"},
	"MPI_Comm_set_attr":          {"CAIRN_OPENMPI", "CAIRN_MPICH"},
	"MPI_Errhandler_create":      {"CAIRN_OPENMPI"},
	"MPI_File_create_errhandler": {"CAIRN_OPENMPI"},
	"MPI_Keyval_create":          {"CAIRN_OPENMPI"},
	"MPI_Pcontrol":               {"CAIRN_OPENMPI", "CAIRN_MPICH"},
	"MPI_Request_get_status":     {"CAIRN_OPENMPI"},
	"MPI_Testall":                {"CAIRN_OPENMPI"},
	"MPI_Testany":                {"CAIRN_OPENMPI"},
	"MPI_Testsome":               {"CAIRN_OPENMPI"},
	"MPI_Type_create_keyval":     {"CAIRN_OPENMPI"},
	"MPI_Type_get_attr":          {"CAIRN_OPENMPI", "CAIRN_MPICH"},
	"MPI_Type_match_size":        {"CAIRN_OPENMPI"},
	"MPI_Type_set_attr":          {"CAIRN_OPENMPI", "CAIRN_MPICH"},
	"MPI_Waitall":                {"CAIRN_OPENMPI"},
	"MPI_Waitany":                {"CAIRN_OPENMPI"},
	"MPI_Waitsome":               {"CAIRN_OPENMPI"},
	"MPI_Win_create_errhandler":  {"CAIRN_OPENMPI"},
	"MPI_Win_create_keyval":      {"CAIRN_OPENMPI"},
	"MPI_Win_get_attr":           {"CAIRN_OPENMPI", "CAIRN_MPICH"},
	"MPI_Win_set_attr":           {"CAIRN_OPENMPI", "CAIRN_MPICH"},
	"MPI_Wtick":                  {"CAIRN_OPENMPI", "CAIRN_MPICH"},
	"MPI_Wtime":                  {"CAIRN_OPENMPI", "CAIRN_MPICH"},
}

// ignorableStatus returns the index of the status, or array of statuses, that f sets; -1 if it sets
// none. Open MPI's Fortran layer passes a status of its own to C even if the program passes
// MPI_STATUS_IGNORE.
func ignorableStatus(f *mpi.Function) int {
	return slices.IndexFunc(f.Params, func(p mpi.Param) bool {
		return p.Kind == mpi.KindStatus && p.Direction == mpi.Out
	})
}

// hasFortran reports whether f exists in Fortran. The tool interface and the conversions of handles
// are only for C (MPI 4.0 §15.3, §19.3.4).
func hasFortran(f *mpi.Function) bool {
	return f.Class.Group() != mpi.GroupTool && semantics.Of(f).Operation != semantics.Convert && !strings.HasPrefix(f.Name, "MPI_T_")
}

// fortranSymbols lists all symbols, grouped by function, in the order of the functions.
func fortranSymbols(functions []*mpi.Function) []fortranSymbol {
	var list []fortranSymbol
	add := func(f *mpi.Function, names ...string) {
		for _, name := range names {
			list = append(list, fortranSymbol{name, f, false})
		}
	}
	forms := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(fortranOnly)) {
		forms[fortranOnly[name]] = append(forms[fortranOnly[name]], name)
	}
	for _, f := range functions {
		if !hasFortran(f) {
			continue
		}
		for _, name := range append([]string{strings.ToLower(f.Name)}, forms[f.Name]...) {
			// mpif.h and the module mpi: gfortran, flang, ifort and nvfortran; g77; xlf;
			// Cray's of old. Then the module mpi_f08 (MPI 4.0 §19.1.5), without and with
			// descriptors of buffers.
			add(f, name+"_", name+"__", name, strings.ToUpper(name), name+"_f08_", name+"_f08ts_")
		}
		if f.Small != 0 {
			// MPICH's names of large-count procedures.
			small := strings.ToLower(mpi.ByID(f.Small).Name)
			add(f, small+"_f08_large_", small+"_f08ts_large_")
		}
	}
	// Of the profiling interface those names that compilers of today use.
	for _, s := range list {
		if strings.HasSuffix(s.name, "_") && !strings.HasSuffix(s.name, "__") {
			list = append(list, fortranSymbol{"p" + s.name, s.function, true})
		}
	}
	return list
}

// fortranEntries writes the exported Fortran symbols, and those of the profiling interface, without
// the conversions of handles: Fortran layers call them for themselves, and often.
func fortranEntries(functions []*mpi.Function) string {
	var b strings.Builder
	b.WriteString("/* " + strings.TrimSuffix(generated, "\n") + " */\n#include \"../fortran/fortran_entry.inc\"\n\n")
	symbols := fortranSymbols(functions)
	for slot, s := range symbols {
		macro := "FORTRAN_ENTRY"
		if s.profiling {
			macro = "FORTRAN_PROFILING_ENTRY"
		}
		fmt.Fprintf(&b, "%s %s %d %d", macro, s.name, slot, s.function.ID)
		if i := ignorableStatus(s.function); i >= 0 {
			fmt.Fprintf(&b, " status=%d", i)
		}
		b.WriteByte('\n')
	}
	b.WriteString("\n")
	for _, f := range functions {
		if semantics.Of(f).Operation != semantics.Convert {
			fmt.Fprintf(&b, "PROFILING_ENTRY P%s %d\n", f.Name, f.ID)
		}
	}
	fmt.Fprintf(&b, "\nFORTRAN_END %d\n", len(symbols))
	return b.String()
}

// fortranTable writes the tables for the entries of the Fortran symbols: their names, the function
// of each, and the adapters.
func fortranTable(functions []*mpi.Function) string {
	var b strings.Builder
	symbols := fortranSymbols(functions)
	b.WriteString("// " + generated + "#include \"../fortran/fortran.h\"\n\nconst unsigned cairn_fortran_symbols = " + fmt.Sprint(len(symbols)) + ";\n\n")
	b.WriteString("// Zero-terminated names, which are searched only at the first call of each.\nconst char cairn_fortran_names[] =\n")
	for _, s := range symbols {
		fmt.Fprintf(&b, "\t\"%s\\0\"\n", s.name)
	}
	b.WriteString("\t;\n\nvoid *cairn_fortran_adapter(unsigned function)\n{\n\tswitch (function) {\n")
	for _, name := range slices.Sorted(maps.Keys(fortranAdapted)) {
		var defined []string
		for _, abi := range fortranAdapted[name] {
			defined = append(defined, fmt.Sprintf("defined(%s)", abi))
		}
		fmt.Fprintf(&b, "#if %s\n\tcase CAIRN_ID_%s:\n\t\treturn (void *)cairn_fortran_%s;\n#endif\n", strings.Join(defined, " || "), name, name)
	}
	b.WriteString("\t}\n\treturn NULL;\n}\n")
	return b.String()
}
