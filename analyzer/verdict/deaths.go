package verdict

import (
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// by says who or what stopped a run of which neither a hang nor a crash is known; "" if nothing is
// known of that.
func (s *Stop) by() string {
	text := ""
	switch {
	case s.Asked != 0:
		return fmt.Sprintf(": cairn run was asked to end it (%s)", signalName(s.Asked))
	case s.Launcher != 0:
		return fmt.Sprintf(": its launcher was ended (%s)", signalName(s.Launcher))
	case s.Signal != 0:
		text = fmt.Sprintf(": all its ranks were ended (%s), by whom is not known", signalName(s.Signal))
	}
	if s.Code > 0 {
		text += fmt.Sprintf("; the exit code of the command was %d", s.Code)
	}
	return text
}

// progressed reports whether the run made progress until somebody stopped it. If all ranks were
// ended by a signal that nobody is known to have sent, one of them may have failed before.
func (s *Stop) progressed() bool {
	return s.Waited <= 0 && (s.Signal == 0 || s.Asked != 0 || s.Launcher != 0)
}

// was returns " was" for one rank, " were" for more.
func was(ranks int) string {
	if ranks > 1 {
		return " were"
	}
	return " was"
}

// failure describes the error of a call that ended its process.
func (d *Death) failure(ranks int) string {
	switch {
	case d.Class != "" && d.ExitCode < 0:
		return fmt.Sprintf("an MPI error (%s, by the exit code of the launcher)", d.Class)
	case d.Class != "":
		return fmt.Sprintf("an MPI error (%s)", d.Class)
	case ranks > 1:
		return fmt.Sprintf("exit code %d each", d.ExitCode)
	}
	return fmt.Sprintf("exit code %d", d.ExitCode)
}

// memory describes what is known of a death for lack of memory.
func (d *Death) memory(ranks int) string {
	text := " for lack of memory"
	if d.MemoryLimit > 0 { // the kernel counts kills for lack of memory on the machine, too
		text += fmt.Sprintf(" (the limit of its container is %s)", wording.Bytes(d.MemoryLimit))
	}
	if d.MemoryUsed > 0 && ranks == 1 {
		text += fmt.Sprintf("; it was seen with %s", wording.Bytes(d.MemoryUsed))
	}
	return text
}

// errorHints say what to look for after an error of a class.
var errorHints = map[string]string{
	"MPI_ERR_TRUNCATE": ": the message is longer than the buffer, so compare count and datatype of both sides",
	"MPI_ERR_RANK":     ": there is no such rank in the communicator",
	"MPI_ERR_ROOT":     ": there is no such root in the communicator",
}
