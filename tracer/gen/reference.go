package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/mpi"
)

// The reference log (`--verify`) is written by these functions, in a separate library. They share
// nothing with the wrappers' record path except the lengths of arrays, so a bug in one is not
// hidden by the other.

func references(functions []*mpi.Function) string {
	var b strings.Builder
	b.WriteString("// " + generated + "#include \"../lines.h\"\n")
	for _, f := range functions {
		b.WriteString("\n" + referenceCall(f) + "\n" + referenceReturned(f))
	}
	return b.String()
}

func referencePrototypes(functions []*mpi.Function) string {
	var b strings.Builder
	b.WriteString("// " + generated + "#ifndef CAIRN_REFERENCE_GEN_H\n#define CAIRN_REFERENCE_GEN_H\n\n#include \"../process/abi.h\"\n\n")
	for _, f := range functions {
		fmt.Fprintf(&b, "uint64_t cairn_reference_call_%s(%s);\n", f.Name, declarations(f, nil))
		fmt.Fprintf(&b, "void cairn_reference_return_%s(%s);\n", f.Name, declarations(f, returnDeclarations(f)))
	}
	b.WriteString("\n// The functions above, for the shim.\nstruct cairn_reference_writers {\n")
	for _, f := range functions {
		for _, line := range []string{"call", "return"} {
			fmt.Fprintf(&b, "\t__typeof__(&cairn_reference_%s_%s) %s_%s;\n", line, f.Name, line, f.Name)
		}
	}
	b.WriteString("};\n\nextern const struct cairn_reference_writers cairn_reference_writers;\n\n#endif\n")
	return b.String()
}

// referenceTable writes the table of all these functions.
func referenceTable(functions []*mpi.Function) string {
	var b strings.Builder
	b.WriteString("// " + generated + "#include \"../../gen/reference_gen.h\"\n\nconst struct cairn_reference_writers cairn_reference_writers = {\n")
	for _, f := range functions {
		for _, line := range []string{"call", "return"} {
			fmt.Fprintf(&b, "\t.%s_%s = cairn_reference_%s_%s,\n", line, f.Name, line, f.Name)
		}
	}
	b.WriteString("};\n")
	return b.String()
}

func declarations(f *mpi.Function, first []string) string {
	list := first
	for i := range f.Params {
		list = append(list, f.Params[i].Declaration())
	}
	if len(list) == 0 {
		return "void"
	}
	return strings.Join(list, ", ")
}

// returnDeclarations returns the parameters of the log of a return before the function's own ones.
func returnDeclarations(f *mpi.Function) []string {
	list := []string{"uint64_t index_"}
	if f.ReturnType != "void" {
		list = append(list, f.ReturnType+" result_")
	}
	for i := range f.Params {
		if p := &f.Params[i]; p.Kind == mpi.KindStatus && p.Direction == mpi.Out {
			list = append(list, "bool ignored_"+p.Name+"_")
		}
	}
	for i := range f.Params {
		if p := &f.Params[i]; changesLength(f, p) {
			list = append(list, "int64_t length_"+p.Name+"_")
		}
	}
	return list
}

// changesLength reports whether the call overwrites the number that was the capacity of p:
// MPI_Info_get_string returns the required size in buflen.
func changesLength(f *mpi.Function, p *mpi.Param) bool {
	return isList(p) && p.Direction.IsOut() && p.Length.Op == mpi.TermParam && f.Params[p.Length.Param].Direction.IsOut()
}

// referenceReturn returns the wrapper's call of the function for the return.
func referenceReturn(f *mpi.Function) string {
	list := []string{"reference_"}
	if f.ReturnType != "void" {
		list = append(list, "result_")
	}
	for i := range f.Params {
		if p := &f.Params[i]; p.Kind == mpi.KindStatus && p.Direction == mpi.Out {
			list = append(list, ignored(p))
		}
	}
	for i := range f.Params {
		if p := &f.Params[i]; changesLength(f, p) {
			list = append(list, "length_"+p.Name+"_")
		}
	}
	call := arguments(f, "")
	rest := strings.TrimSuffix(strings.TrimPrefix(call, "("), ")")
	if rest != "" {
		list = append(list, rest)
	}
	return "return_" + f.Name + "(" + strings.Join(list, ", ") + ")"
}

func referenceCall(f *mpi.Function) string {
	var b strings.Builder
	fmt.Fprintf(&b, "uint64_t cairn_reference_call_%s(%s)\n{\n", f.Name, declarations(f, nil))
	referenceLengths(&b, f, false)
	fmt.Fprintf(&b, "\tconst uint64_t index_ = cairn_line_call(%q);\n", f.Name)
	for i := range f.Params {
		if p := &f.Params[i]; p.Direction.IsIn() {
			fmt.Fprintf(&b, "\t%s\n", referenceValue(f, p, "true", false))
		}
	}
	b.WriteString("\tcairn_line_entered(index_);\n\treturn index_;\n}\n")
	return b.String()
}

func referenceReturned(f *mpi.Function) string {
	var b strings.Builder
	fmt.Fprintf(&b, "void cairn_reference_return_%s(%s)\n{\n", f.Name, declarations(f, returnDeclarations(f)))
	referenceLengths(&b, f, true)
	switch {
	case f.Return == mpi.KindDouble:
		b.WriteString("\tcairn_line_return_double(index_, result_);\n")
	case f.ReturnType != "void":
		b.WriteString("\tcairn_line_return(index_, (long long)(intptr_t)result_);\n")
	default:
		b.WriteString("\tcairn_line_return(index_, 0);\n")
	}
	if f.Return == mpi.KindErrorCode {
		b.WriteString("\tconst bool defined_ = result_ == MPI_SUCCESS || result_ == MPI_ERR_IN_STATUS;\n\t(void)defined_;\n")
	} else {
		b.WriteString("\tconst bool defined_ = true;\n\t(void)defined_;\n")
	}
	for i := range f.Params {
		if p := &f.Params[i]; p.Direction.IsOut() {
			defined := "defined_"
			if p.OnlyIf > 0 {
				flag := f.Params[p.OnlyIf-1].Name
				defined = fmt.Sprintf("defined_ && %s != NULL && *%s != 0", flag, flag)
			}
			if p.Kind == mpi.KindBuffer || p.Effect == mpi.EffectCompleted {
				defined = "true"
			}
			fmt.Fprintf(&b, "\t%s\n", referenceValue(f, p, defined, true))
		}
	}
	b.WriteString("\tcairn_line_end();\n}\n")
	return b.String()
}

// referenceLengths declares the lengths that the values of one section need, and uses every
// parameter. returned: in the function for the return, which gets the lengths that the call
// overwrites as arguments.
func referenceLengths(b *strings.Builder, f *mpi.Function, returned bool) {
	for i := range f.Params {
		fmt.Fprintf(b, "\t(void)%s;\n", f.Params[i].Name)
	}
	if hasRootOnly(f) {
		fmt.Fprintf(b, "\tconst bool root_ = %s;\n\t(void)root_;\n", rootOf(f))
	}
	for i := range f.Params {
		// Lengths of in arrays may be sums that out arrays need.
		if p := &f.Params[i]; isList(p) && !(returned && changesLength(f, p)) {
			fmt.Fprintf(b, "\tconst int64_t length_%s_ = %s;\n\t(void)length_%s_;\n", p.Name, entryLength(f, p), p.Name)
		}
	}
}

// hasRootOnly reports whether some parameter is significant at the root only.
func hasRootOnly(f *mpi.Function) bool {
	return slices.ContainsFunc(f.Params, func(p mpi.Param) bool { return p.RootOnly })
}

// referenceValue returns the statement that writes one parameter; out: after the call.
func referenceValue(f *mpi.Function, p *mpi.Param, defined string, out bool) string {
	if p.RootOnly { // the length of a list depends on that, too
		defined = strings.TrimSuffix("root_ && "+defined, " && true")
	}
	n := "length_" + p.Name + "_"
	if out {
		n = definedLength(f, p)
	}
	list := func(format string, args ...any) string {
		return fmt.Sprintf("if (cairn_line_list(%q, %s, %s, %s)) {\n\t\tfor (int64_t i_ = 0; i_ < %s; i_++)\n\t\t\t%s;\n\t\tcairn_line_list_end();\n\t}",
			p.Name, defined, n, p.Name, n, fmt.Sprintf(format, args...))
	}
	errors := "false"
	if out && f.Return == mpi.KindErrorCode {
		errors = "result_ == MPI_ERR_IN_STATUS"
		if f.Name == "MPI_Status_set_error" {
			errors = "true"
		}
	}
	ignoredHere := "false"
	if p.Direction == mpi.Out {
		ignoredHere = "ignored_" + p.Name + "_"
	}
	switch {
	case p.Kind == mpi.KindStatus && !p.IsArray():
		return fmt.Sprintf("cairn_line_status(%q, %s, %s, %s, %s);", p.Name, defined, ignoredHere, p.Name, errors)
	case p.Kind == mpi.KindStatus:
		return fmt.Sprintf("cairn_line_statuses(%q, %s, %s, %s, %s, %s);", p.Name, defined, ignoredHere, n, p.Name, errors)
	case p.Kind == mpi.KindString:
		return fmt.Sprintf("cairn_line_text(%q, %s, length_%s_, %s);", p.Name, defined, p.Name, p.Name)
	case p.Kind == mpi.KindArgv:
		return fmt.Sprintf("cairn_line_argv(%q, %s, %s);", p.Name, defined, p.Name)
	case p.Kind == mpi.KindStrings:
		return list("cairn_line_text_element(%s[i_])", p.Name)
	case p.Kind == mpi.KindArgumentLists:
		return list("cairn_line_texts_element((char **)%s[i_])", p.Name)
	case p.Kind == mpi.KindF08Status:
		return list("cairn_line_element(((const MPI_Fint *)(const void *)%s)[i_])", p.Name)
	case isList(p):
		return list("cairn_line_element((long long)(intptr_t)%s[i_])", referenceFlat(p))
	case p.Kind == mpi.KindDouble && !p.IsPointer():
		return fmt.Sprintf("cairn_line_double(%q, %s);", p.Name, p.Name)
	case p.Kind == mpi.KindBuffer, p.Kind == mpi.KindFunction, !p.IsPointer(), p.Kind == mpi.KindPointer && p.Direction == mpi.In:
		return fmt.Sprintf("cairn_line_word(%q, %s, (long long)(intptr_t)%s);", p.Name, always(p), p.Name)
	}
	at := "*" + p.Name
	if p.Kind == mpi.KindPointer {
		at = "*(void *const *)" + p.Name
	}
	return fmt.Sprintf("if (%s && %s == NULL)\n\t\tcairn_line_null(%q);\n\telse\n\t\tcairn_line_word(%q, %s, %s ? (long long)(intptr_t)%s : 0);",
		defined, p.Name, p.Name, p.Name, defined, defined, at)
}

// always returns the condition for a scalar that is no result to be defined, whether or not
// the call succeeds.
func always(p *mpi.Param) string {
	if p.RootOnly {
		return "root_"
	}
	return "true"
}

func referenceFlat(p *mpi.Param) string {
	if p.Inner > 0 {
		return fmt.Sprintf("((const %s *)%s)", p.CType, p.Name)
	}
	return p.Name
}
