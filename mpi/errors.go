package mpi

// errorClasses are the names of the error classes of an ABI with the values 1, 2, ….
var errorClasses = map[string][]string{
	"mpich": {
		"BUFFER", "COUNT", "TYPE", "TAG", "COMM", "RANK", "ROOT", "GROUP", "OP", "TOPOLOGY", "DIMS", "ARG", "UNKNOWN", "TRUNCATE",
		"OTHER", "INTERN", "IN_STATUS", "PENDING", "REQUEST",
	},
	"openmpi": {
		"BUFFER", "COUNT", "TYPE", "TAG", "COMM", "RANK", "REQUEST", "ROOT", "GROUP", "OP", "TOPOLOGY", "DIMS", "ARG", "UNKNOWN",
		"TRUNCATE", "OTHER", "INTERN", "IN_STATUS", "PENDING",
	},
}

// ErrorClass returns the name of the error class with a value in an ABI, such as MPI_ERR_TRUNCATE;
// "" if it is none of MPI-1.
func ErrorClass(abi string, value int) string {
	if classes := errorClasses[abi]; value >= 1 && value <= len(classes) {
		return "MPI_ERR_" + classes[value-1]
	}
	return ""
}
