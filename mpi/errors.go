package mpi

// errorClasses are the names of the error classes of an ABI with the values 1, 2, …; "": there is
// none.
var errorClasses = map[string][]string{
	"mpich": {
		"BUFFER", "COUNT", "TYPE", "TAG", "COMM", "RANK", "ROOT", "GROUP", "OP", "TOPOLOGY", "DIMS", "ARG", "UNKNOWN", "TRUNCATE",
		"OTHER", "INTERN", "IN_STATUS", "PENDING", "REQUEST", "ACCESS", "AMODE", "BAD_FILE", "CONVERSION", "DUP_DATAREP",
		"FILE_EXISTS", "FILE_IN_USE", "FILE", "INFO", "INFO_KEY", "INFO_VALUE", "INFO_NOKEY", "IO", "NAME", "NO_MEM", "NOT_SAME",
		"NO_SPACE", "NO_SUCH_FILE", "PORT", "QUOTA", "READ_ONLY", "SERVICE", "SPAWN", "UNSUPPORTED_DATAREP",
		"UNSUPPORTED_OPERATION", "WIN", "BASE", "LOCKTYPE", "KEYVAL", "RMA_CONFLICT", "RMA_SYNC", "SIZE", "DISP", "ASSERT", "",
		"RMA_RANGE", "RMA_ATTACH", "RMA_SHARED", "RMA_FLAVOR",
	},
	"openmpi": {
		"BUFFER", "COUNT", "TYPE", "TAG", "COMM", "RANK", "REQUEST", "ROOT", "GROUP", "OP", "TOPOLOGY", "DIMS", "ARG", "UNKNOWN",
		"TRUNCATE", "OTHER", "INTERN", "IN_STATUS", "PENDING", "ACCESS", "AMODE", "ASSERT", "BAD_FILE", "BASE", "CONVERSION",
		"DISP", "DUP_DATAREP", "FILE_EXISTS", "FILE_IN_USE", "FILE", "INFO_KEY", "INFO_NOKEY", "INFO_VALUE", "INFO", "IO",
		"KEYVAL", "LOCKTYPE", "NAME", "NO_MEM", "NOT_SAME", "NO_SPACE", "NO_SUCH_FILE", "PORT", "QUOTA", "READ_ONLY",
		"RMA_CONFLICT", "RMA_SYNC", "SERVICE", "SIZE", "SPAWN", "UNSUPPORTED_DATAREP", "UNSUPPORTED_OPERATION", "WIN",
		"", "", "", "", "", "", "", "", "", "", "", "", "", "", // of the tool interface
		"RMA_RANGE", "RMA_ATTACH", "RMA_FLAVOR", "RMA_SHARED",
	},
}

// ErrorClass returns the name of the error class with a value in an ABI, such as MPI_ERR_TRUNCATE;
// "" if it is none of MPI 3.1.
func ErrorClass(abi string, value int) string {
	if classes := errorClasses[abi]; value >= 1 && value <= len(classes) && classes[value-1] != "" {
		return "MPI_ERR_" + classes[value-1]
	}
	return ""
}
