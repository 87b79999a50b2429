package trace

// datatypeSizes are the sizes in bytes of predefined datatypes on the platforms that MPI jobs run on (64-bit Linux:
// LP64; Fortran with its default kinds).
var datatypeSizes = func() map[string]int64 {
	sizes := map[string]int64{}
	for size, names := range map[int64][]string{
		1: {"BYTE", "PACKED", "CHAR", "SIGNED_CHAR", "UNSIGNED_CHAR", "INT8_T", "UINT8_T", "C_BOOL", "CXX_BOOL", "CHARACTER", "INTEGER1"},
		2: {"SHORT", "UNSIGNED_SHORT", "INT16_T", "UINT16_T", "INTEGER2", "REAL2"},
		4: {"INT", "UNSIGNED", "FLOAT", "WCHAR", "INT32_T", "UINT32_T", "INTEGER", "LOGICAL", "REAL", "INTEGER4", "REAL4"},
		8: {"LONG", "UNSIGNED_LONG", "LONG_LONG", "LONG_LONG_INT", "UNSIGNED_LONG_LONG", "DOUBLE", "INT64_T", "UINT64_T", "AINT",
			"OFFSET", "COUNT", "C_COMPLEX", "C_FLOAT_COMPLEX", "CXX_FLOAT_COMPLEX", "COMPLEX", "DOUBLE_PRECISION", "INTEGER8", "REAL8",
			"COMPLEX8", "FLOAT_INT", "2INT", "2INTEGER", "2REAL"},
		16: {"LONG_DOUBLE", "C_DOUBLE_COMPLEX", "CXX_DOUBLE_COMPLEX", "DOUBLE_COMPLEX", "REAL16", "COMPLEX16", "2DOUBLE_PRECISION"},
		32: {"C_LONG_DOUBLE_COMPLEX", "CXX_LONG_DOUBLE_COMPLEX", "COMPLEX32"},
	} {
		for _, name := range names {
			sizes["MPI_"+name] = size
		}
	}
	return sizes
}()

// DatatypeSize is the size in bytes of a predefined datatype ("MPI_DOUBLE"); false for one that it does not know.
func DatatypeSize(name string) (int64, bool) {
	size, known := datatypeSizes[name]
	return size, known
}
