package messages

// Exit codes of the cairn command, after sysexits.h where it has one.
const (
	// ExitUsage: the command line cannot be understood.
	ExitUsage = 64
	// ExitBadData: another attempt would read the same bytes.
	ExitBadData = 65
	// ExitUnavailable: the storage did not answer for as long as the command waits. Another attempt may work.
	ExitUnavailable = 69
	// ExitInternal: a failure of Cairn's own.
	ExitInternal = 70
	// ExitRefused: the storage answered and refused: the key is wrong or may not, or the bucket is missing. A person must
	// mend that.
	ExitRefused = 77
	// ExitKilled is what a container leaves that ran out of memory.
	ExitKilled = 137
)
