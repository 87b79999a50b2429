package stopped

import (
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// pairs are the predefined datatypes of MPI_MINLOC and MPI_MAXLOC, and of no other operation.
var pairs = []string{
	"MPI_FLOAT_INT", "MPI_DOUBLE_INT", "MPI_LONG_INT", "MPI_2INT", "MPI_SHORT_INT", "MPI_LONG_DOUBLE_INT", "MPI_2REAL",
	"MPI_2DOUBLE_PRECISION", "MPI_2INTEGER", "MPI_2COMPLEX", "MPI_2DOUBLE_COMPLEX",
}

// floats are the predefined datatypes of real numbers.
var floats = []string{
	"MPI_FLOAT", "MPI_DOUBLE", "MPI_LONG_DOUBLE", "MPI_REAL", "MPI_DOUBLE_PRECISION", "MPI_REAL2", "MPI_REAL4", "MPI_REAL8", "MPI_REAL16",
}

// misapplied returns "MPI_BAND on MPI_DOUBLE" for a reduction whose operation is not defined for
// its datatype (MPI 4.0 §6.9.2 and §6.9.4), as far as no library defines more; otherwise "".
func misapplied(c *timeline.Call) string {
	value := func(role semantics.Role) string {
		if i := c.Semantics.In[role]; i >= 0 && int(i) < len(c.Event.In) && c.Event.In[i].Form == trace.Name {
			return c.Event.In[i].Text
		}
		return ""
	}
	op, datatype := value(semantics.Operator), value(semantics.Datatype)
	if op == "" || datatype == "" || datatype == "MPI_DATATYPE_NULL" || defined(op, datatype) {
		return ""
	}
	return op + " on " + datatype
}

func defined(op, datatype string) bool {
	pair, isComplex := slices.Contains(pairs, datatype), strings.HasSuffix(strings.TrimRight(datatype, "0123456789"), "COMPLEX")
	switch op {
	case "MPI_MINLOC", "MPI_MAXLOC":
		return pair
	case "MPI_BAND", "MPI_BOR", "MPI_BXOR":
		return !pair && !isComplex && !slices.Contains(floats, datatype)
	case "MPI_MIN", "MPI_MAX":
		return !pair && !isComplex
	case "MPI_SUM", "MPI_PROD", "MPI_LAND", "MPI_LOR", "MPI_LXOR":
		return !pair
	}
	return true
}
