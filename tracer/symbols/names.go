package symbols

import (
	"regexp"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// maxName is the binary logarithm of the length above which a C++ name stays as the linker has it:
// what templates of templates demangle to can be longer than the binary.
const maxName = 12

// clone matches what compilers append to the name of a copy of a function.
var clone = regexp.MustCompile(`(\.(isra|constprop|part|cold|lto_priv|localalias|llvm|__uniq)(\.\d+)*)+$`)

// readable returns a function's name as the source has it: with namespaces, classes and template
// arguments of C++ and Rust, without parameters, and with the module of a Fortran procedure. Other
// names are returned unchanged.
func readable(name string) string {
	name = clone.ReplaceAllString(name, "")
	if module, procedure, ok := strings.Cut(strings.TrimPrefix(name, "__"), "_MOD_"); ok && strings.HasPrefix(name, "__") && module != "" && procedure != "" {
		return module + "::" + procedure // gfortran's
	}
	text, err := demangle.ToString(name, demangle.NoParams, demangle.NoEnclosingParams, demangle.NoClones, demangle.MaxLength(maxName))
	if err != nil {
		return name
	}
	return text
}

// isMangled reports whether a name has more in it than the name in the source:
// namespaces and classes.
func isMangled(name string) bool {
	return strings.HasPrefix(name, "_Z") || strings.HasPrefix(name, "_R")
}
