package datatypes

// A basicType is the layout of a predefined datatype in bytes: the size of its data, its extent,
// its alignment, and the end of the data.
type basicType struct{ size, extent, align, end int64 }

// basicTypes are the predefined datatypes on the platforms that MPI jobs run on: 64-bit Linux
// (LP64, x86-64 and arm64 with 16 bytes for long double), Fortran with its default kinds.
var basicTypes = func() map[string]basicType {
	types := map[string]basicType{}
	for _, row := range []struct {
		basicType
		names []string
	}{
		{basicType{1, 1, 1, 1}, []string{"BYTE", "PACKED", "CHAR", "SIGNED_CHAR", "UNSIGNED_CHAR", "INT8_T", "UINT8_T", "C_BOOL", "CXX_BOOL",
			"CHARACTER", "INTEGER1", "LOGICAL1"}},
		{basicType{2, 2, 2, 2}, []string{"SHORT", "UNSIGNED_SHORT", "INT16_T", "UINT16_T", "INTEGER2", "REAL2", "LOGICAL2"}},
		{basicType{4, 4, 4, 4}, []string{"INT", "UNSIGNED", "FLOAT", "WCHAR", "INT32_T", "UINT32_T", "INTEGER", "LOGICAL", "REAL", "INTEGER4",
			"REAL4", "LOGICAL4"}},
		{basicType{8, 8, 8, 8}, []string{"LONG", "UNSIGNED_LONG", "LONG_LONG", "LONG_LONG_INT", "UNSIGNED_LONG_LONG", "DOUBLE", "INT64_T",
			"UINT64_T", "AINT", "OFFSET", "COUNT", "DOUBLE_PRECISION", "INTEGER8", "REAL8", "LOGICAL8"}},
		{basicType{16, 16, 16, 16}, []string{"LONG_DOUBLE", "REAL16", "INTEGER16"}},
		{basicType{8, 8, 4, 8}, []string{"C_COMPLEX", "C_FLOAT_COMPLEX", "CXX_FLOAT_COMPLEX", "COMPLEX", "COMPLEX8", "FLOAT_INT", "2INT",
			"2INTEGER", "2REAL"}},
		{basicType{16, 16, 8, 16}, []string{"C_DOUBLE_COMPLEX", "CXX_DOUBLE_COMPLEX", "DOUBLE_COMPLEX", "COMPLEX16", "2DOUBLE_PRECISION"}},
		{basicType{32, 32, 16, 32}, []string{"C_LONG_DOUBLE_COMPLEX", "CXX_LONG_DOUBLE_COMPLEX", "COMPLEX32"}},
		// pairs of a value and an int (MPI 4.0 §6.9.4) are structures of C
		{basicType{12, 16, 8, 12}, []string{"DOUBLE_INT", "LONG_INT"}},
		{basicType{6, 8, 4, 8}, []string{"SHORT_INT"}},
		{basicType{20, 32, 16, 20}, []string{"LONG_DOUBLE_INT"}},
	} {
		for _, name := range row.names {
			types["MPI_"+name] = row.basicType
		}
	}
	return types
}()

// basic returns a predefined datatype by its name.
func basic(name string) (Type, bool) {
	b, ok := basicTypes[name]
	return Type{Size: b.size, Extent: b.extent, TrueUB: b.end, Blocks: 1, align: b.align, name: name}, ok
}

// Size returns the size in bytes of a predefined datatype ("MPI_DOUBLE"), false if it is not known.
func Size(name string) (int64, bool) {
	b, known := basicTypes[name]
	return b.size, known
}
