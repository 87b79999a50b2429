package messages

// Exit codes of the cairn command. Those that exist in sysexits.h have the same values.
const (
	// ExitUsage: the command line is invalid.
	ExitUsage = 64
	// ExitBadData: another attempt would read the same bytes.
	ExitBadData = 65
	// ExitUnavailable: the storage did not respond for as long as the command waits. Another
	// attempt may succeed.
	ExitUnavailable = 69
	// ExitInternal: an internal error of Cairn.
	ExitInternal = 70
	// ExitRefused: the storage responded and refused: the key is wrong or has no permission, or the
	// bucket is missing. A person must repair that.
	ExitRefused = 77
	// ExitKilled is the exit code of a container that was killed, for lack of memory among others.
	ExitKilled = 137
)
