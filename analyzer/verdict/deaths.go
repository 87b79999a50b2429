package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/wording"
	"github.com/cairn-mpi/cairn/trace"
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
	case s.Code == atLimit:
		return fmt.Sprintf(": at a time limit, by the exit code of the command (%d, as of timeout)", s.Code)
	case s.Signal == sigkill && s.Code > 0 && s.Code < atLimit && s.Code != sigkill:
		text = fmt.Sprintf(": all its ranks were ended at once (%s), as launchers do after an MPI error", signalName(s.Signal))
		var parts []string
		for i := range s.May[:min(len(s.May), maxNamed)] {
			parts = append(parts, s.all(s.May[i].Ranks, s.May[i].Count)+" in "+s.May[i].in())
		}
		if len(parts) > 0 {
			text += " (maybe of " + and(parts) + ")"
		}
	case s.Signal != 0:
		text = fmt.Sprintf(": all its ranks were ended (%s), by whom is not known", signalName(s.Signal))
	}
	if s.Code > 0 {
		text += "; the exit code of the command was " + exitCode(s.Code)
	}
	return text
}

// Signals, and the exit code of timeout(1) at its limit.
const (
	sigkill = 9
	atLimit = 124
)

// AfterFinalize returns a sentence on a command that failed after all its ranks had completed
// MPI_Finalize, or on its own account; "" if it did not, or if that is not known.
// all names the ranks: those of the trace.
func AfterFinalize(l *trace.Launcher, all string) string {
	switch {
	case l == nil || l.ExitCode == 0:
		return ""
	case l.Asked != 0:
		return fmt.Sprintf("%s completed MPI_Finalize; then cairn run was asked to end the command (%s).", all, signalName(l.Asked))
	case l.Signal != 0:
		return fmt.Sprintf("%s completed MPI_Finalize; the command was ended by a signal (%s).", all, signalName(l.Signal))
	}
	return fmt.Sprintf("%s completed MPI_Finalize, but the exit code of the command was %s.", all, exitCode(l.ExitCode))
}

// exitCode describes the exit code of a command: whose it usually is.
func exitCode(code int) string {
	const signaled = 128
	if slices.Contains(faults, code-signaled) {
		return fmt.Sprintf("%d, as of a process that crashed (%s)", code, signalName(code-signaled))
	}
	return fmt.Sprint(code)
}

// faults are the signals of errors that the processor or the C library finds.
var faults = []int{6, 7, 8, 11}

// progressed reports whether the run made progress until somebody stopped it. If all ranks were
// ended by a signal that nobody is known to have sent, one of them may have failed before.
func (s *Stop) progressed() bool {
	return s.Waited <= 0 && (s.Signal == 0 || s.Asked != 0 || s.Launcher != 0 || s.Code == atLimit)
}

// crash says how the first rank ended, and what the others did then.
func (s *Stop) crash() string {
	d := s.Death
	var text string
	switch {
	case d.Finalized:
		text = s.finalized()
	case s.Scope != "":
		text = s.lost()
	case d.Failed || d.Abort:
		text = s.failed()
	default:
		text = s.died() + s.whence() + d.memory(s.Named[0].Count)
		if d.OneOf {
			text += "; the launcher ends the others at once, in the same way"
		}
	}
	if d.Or != "" {
		text += "; or " + d.Or
	}
	if len(s.Others) > 0 {
		text += "; then " + s.list()
	}
	if d.Late >= 0.5 {
		text += fmt.Sprintf("; the rest of the job ended %s later", wording.Duration(d.Late))
	}
	if d.Told {
		text += "; the job was stopped" + s.by()
	}
	return text + "."
}

// finalized says which call a rank made after MPI_Finalize, and how it ended there.
func (s *Stop) finalized() string {
	d, who := s.Death, &s.Named[0]
	name, it := s.all(who.Ranks, who.Count), "it"
	if who.Count > 1 {
		it = "they"
	}
	how := "which never returned"
	switch {
	case d.Signal != 0:
		how = fmt.Sprintf("in which %s ended (%s)", it, signalName(d.Signal))
	case d.ExitCode >= 0:
		how = fmt.Sprintf("in which %s ended with exit code %d", it, d.ExitCode)
	}
	text := fmt.Sprintf("called %s, %s", who.In.At(), how)
	if s.Kind == "" {
		return fmt.Sprintf("%s completed MPI_Finalize; then %s %s", capital(s.all("0", s.Ranks)), name, text)
	}
	return fmt.Sprintf("After MPI_Finalize, %s into the run, %s %s", s.when(), name, text)
}

// lost says which pod, node or host was lost.
func (s *Stop) lost() string {
	who := &s.Named[0]
	if s.Death.Cut {
		return fmt.Sprintf("%s %s was lost, with %s; the last that is stored of it is from %s into the run", capital(s.Scope), s.Name, who.name(), s.when())
	}
	return fmt.Sprintf("%s %s was lost %s into the run, with %s", capital(s.Scope), s.Name, s.when(), who.name())
}

// failed says which MPI call ended the job.
func (s *Stop) failed() string {
	d, who := s.Death, &s.Named[0]
	name := capital(s.all(who.Ranks, who.Count)) + who.Where
	if d.Abort {
		return fmt.Sprintf("%s ended the job with MPI_Abort (error code %s)%s, %s into the run", name, d.Code, site(who.In), s.when())
	}
	failure, in := d.failure(who.Count), ""
	if d.OneOf {
		name = "At least one of " + who.name()
	}
	if who.In.Function != "" {
		in = " in " + who.In.At()
	}
	if who.Detail != "" {
		in += " (" + who.Detail + ")"
	}
	return fmt.Sprintf("%s ended the job with %s%s, %s into the run", name, failure, in, s.when())
}

// died says which rank ended by itself or was killed, and when.
func (s *Stop) died() string {
	d, who := s.Death, &s.Named[0]
	name, was, it, them := capital(s.all(who.Ranks, who.Count))+who.Where, "was", "it", "it"
	if who.Count > 1 {
		was, it, them = "were", "they", "them"
	}
	switch {
	case d.Program != "":
		return fmt.Sprintf("%s executed another program (%s) without MPI_Finalize %s into the run", name, d.Program, s.when())
	case d.OneOf:
		return fmt.Sprintf("At least one of %s was killed (%s) %s into the run", who.name(), signalName(d.Signal), s.when())
	case d.OutOfMemory:
		return fmt.Sprintf("%s %s killed for lack of memory %s into the run", name, was, s.when())
	case d.Signal == 9 || d.Signal == 15:
		return fmt.Sprintf("%s %s killed (%s) %s into the run", name, was, signalName(d.Signal), s.when())
	case slices.Contains(crashes, d.Signal):
		return fmt.Sprintf("%s crashed (%s) %s into the run", name, signalName(d.Signal), s.when())
	case d.Signal != 0:
		return fmt.Sprintf("%s %s ended by a signal (%s) %s into the run", name, was, signalName(d.Signal), s.when())
	case d.ExitCode >= 0:
		how := ""
		if d.Quick {
			how = ", without exit handlers: by _exit, quick_exit, or as another program"
		}
		return fmt.Sprintf("%s left without MPI_Finalize (exit code %d%s) %s into the run", name, d.ExitCode, how, s.when())
	case d.Cut:
		return fmt.Sprintf("%s %s lost; the last that is stored of %s is from %s into the run", name, was, them, s.when())
	}
	return fmt.Sprintf("%s died %s into the run, without a crash signal or an exit code: %s %s killed (for lack of memory, say) or called _exit", name, s.when(), it, was)
}

// whence says in which call the rank died, or after which.
func (s *Stop) whence() string {
	switch who := &s.Named[0]; {
	case who.In.Function != "":
		return ", in " + who.In.At()
	case who.After.Function == "":
		return ""
	case s.Death.Exact:
		return fmt.Sprintf(", %s after %s", wording.Duration(who.Seconds), who.After.At())
	case who.Seconds < resolution:
		return ", after " + who.After.At()
	default:
		return fmt.Sprintf(", at least %s after %s", coarse(who.Seconds), who.After.At())
	}
}

// resolution is how often, in seconds, it is observed whether a process is alive.
const resolution = 0.1

// when says how long the run had taken.
func (s *Stop) when() string {
	if s.Death.Exact || s.Death.Abort {
		return wording.Duration(s.Seconds)
	}
	return coarse(s.Seconds)
}

// coarse describes a duration to the resolution.
func coarse(seconds float64) string {
	if seconds >= 1 {
		return wording.Duration(seconds)
	}
	return fmt.Sprintf("%.1f s", seconds)
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

// memory describes what is known of a death for lack of memory. The limit need not be the reason:
// the kernel counts kills for lack of memory on the machine, too.
func (d *Death) memory(ranks int) string {
	var parts []string
	if d.OutOfMemory && d.MemoryLimit > 0 {
		parts = append(parts, "the limit of its container is "+wording.Bytes(d.MemoryLimit))
	}
	if d.OutOfMemory && d.MemoryUsed > 0 && ranks == 1 {
		parts = append(parts, "it was seen with "+wording.Bytes(d.MemoryUsed))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, "; ") + ")"
}

// errorHints say what to look for after an error of a class.
var errorHints = map[string]string{
	"MPI_ERR_TRUNCATE": ": the message is longer than the buffer, so compare count and datatype of both sides",
	"MPI_ERR_RANK":     ": there is no such rank in the communicator",
	"MPI_ERR_ROOT":     ": there is no such root in the communicator",
}
