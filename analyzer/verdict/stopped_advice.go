package verdict

import (
	"fmt"
	"slices"
)

// Advice returns what to do next.
func (s *Stop) Advice() []string {
	switch {
	case s.Kind == Hang && s.Form == Cycle:
		steps := []string{"Change the order of the calls, so that not all of them wait first: let one side send before it receives, use MPI_Sendrecv, or begin with MPI_Irecv and wait after the sends."}
		if s.Stray != "" {
			steps = append(steps, "Compare source, tag and communicator of the receive with those of the message that was sent and never received.")
		}
		return steps
	case s.Kind == Hang && s.Form == Missing && s.Named[0].In.Function == "MPI_Finalize":
		return []string{fmt.Sprintf("See why %s came to the end before the others, and what it printed last: a loop that ends earlier there, a branch on its own data, an error. Python calls MPI_Finalize after an exception, too; MPI_Abort (python -m mpi4py) would end the job.", s.Named[0].name())}
	case s.Kind == Hang && s.Form == Missing:
		return []string{fmt.Sprintf("See why %s went another way through the program: a loop that ends earlier there, a branch on its own data, an error that only it saw.", s.Named[0].name())}
	case s.Kind == Hang:
		return []string{"Let all ranks of the communicator make the same collective calls in the same order, with the same root and operation. Look for a loop that one rank leaves earlier, and for collectives inside branches that depend on the rank."}
	case s.Death != nil:
		return []string{s.afterDeath()}
	case s.Form == Missing:
		return []string{s.Named[0].look()}
	case s.Left != "":
		return []string{"Call MPI_Finalize on every rank before the program ends."}
	case s.Waited > 0:
		return []string{"Look at where the ranks were (below). In the next run, attach a debugger or py-spy to a rank when it stands still: it shows whether the rank can go on."}
	}
	return []string{"See who ended it: a time limit, a person, or the launcher, whose last words are on the terminal. What follows is about the part that ran."}
}

// look says where to look for what ranks outside MPI do.
func (w *Who) look() string {
	where := fmt.Sprintf("what %s does after %s", w.name(), w.After.At())
	const attach = " A debugger or py-spy, attached to it in the next run, shows the line."
	if w.Busy {
		return fmt.Sprintf("Look at the loop in which %s calls %s: whether it can end, and what it waits for there.", w.name(), w.After.Function)
	}
	switch w.Activity {
	case Running:
		return "Look at " + where + ": a loop that does not end, or work that takes much longer there." + attach
	case InKernel:
		return "Look at " + where + ": a lock, a file or a file system that does not answer, another process or a server that it waits for, a sleep." + attach
	case Suspended:
		return fmt.Sprintf("See who suspended %s: a debugger, a batch system, SIGSTOP or SIGTSTP. SIGCONT lets it go on.", w.name())
	case Unseen:
	}
	return "Look at " + where + ": a loop that does not end, a lock, or work that takes much longer there." + attach
}

// afterDeath says what to do after the death of a rank.
func (s *Stop) afterDeath() string {
	switch d := s.Death; {
	case d.Finalized:
		return "Remove the call, or let MPI_Finalize be the last one: no communication, and no release of MPI's objects (in destructors, exit handlers or another library), is allowed after it."
	case d.Program != "":
		return "Let the rank call MPI_Finalize before it executes another program, or start that program as a child (posix_spawn)."
	case s.Scope != "":
		return fmt.Sprintf("See why the %s was lost: kubectl describe, its events (evicted, out of memory, node not ready). The program is not to blame for what the others did then.", s.Scope)
	case d.Abort:
		return "The program ended itself: read what it printed before, and see the condition at the call."
	case d.Failed && d.Class == "":
		return "Read what the MPI library printed: it ended the process in this call."
	case d.Failed:
		return fmt.Sprintf("Compare the arguments of this call with those of its partners%s. What the MPI library printed has more.", errorHints[d.Class])
	case d.OutOfMemory:
		return "Give the job more memory, or let its ranks use less: fewer ranks per node, smaller parts of the data. Ranks that use more than others are named by their resident memory (ps, or kubectl top)."
	case limits[d.Signal] != "":
		return fmt.Sprintf("See which limit holds for the rank's process (%s): in the shell or the batch script, a container's settings, or set by the program itself.", limits[d.Signal])
	case d.Signal != 0 && !slices.Contains(crashes, d.Signal):
		return "See who sends signals there: the kernel for lack of memory (dmesg on the node), a batch system or kubelet at a limit, a person."
	case d.Signal != 0:
		return "Look at the code that ran after that call: with a core file, or under a debugger or -fsanitize=address, on that rank. What the MPI library printed when it crashed has the place."
	case d.ExitCode >= 0:
		return "See what the rank printed last: it called exit, or the MPI library did after an error. Let it end the job with MPI_Abort, so that the others do not wait."
	}
	return "See whether its container ran out of memory (kubectl describe pod, or dmesg on the node: OOMKilled), and who kills processes there."
}

// limits are the resource limits of which the kernel sends a signal.
var limits = map[int]string{24: "ulimit -t, CPU time", 25: "ulimit -f, size of a file"}
