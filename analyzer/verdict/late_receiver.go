package verdict

import (
	"fmt"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// lateReceiver is about ranks for which others wait in a send, or that poll too seldom.
type lateReceiver struct{ *Cause }

func (c lateReceiver) sentence() string {
	if c.Form == Seldom {
		return fmt.Sprintf("%s%s %s this job slow: %s in %s only every %s, and %s idle in between while %s for %s",
			c.Who(), c.whereabouts(), c.some("makes", "make"), c.some("it polls", "they poll"), c.Before.At(), wording.Duration(c.EachSeconds),
			c.some("is", "are"), c.others("the other waits", "others wait"), c.some("it", "them"))
	}
	receivers := "late receivers make"
	if c.Ranks != "" {
		receivers = c.pick("a late receiver makes", receivers)
	}
	return fmt.Sprintf("%s this job slow: senders wait in %s until %s", receivers, c.Before.At(), c.until())
}

// until returns what the senders wait for.
func (c lateReceiver) until() string {
	until := "the receiver has posted its receive"
	if c.Form == NotInside {
		until = "the receiver, which computes, calls MPI again"
	}
	if c.Ranks == "" {
		return until
	}
	until = strings.Replace(until, "the receiver", c.Who(), 1)
	if c.isSeveral() {
		until = strings.NewReplacer("has posted", "have posted", "its receive", "their receives", "which computes, calls", "which compute, call").Replace(until)
	}
	return until
}

func (c lateReceiver) short() string {
	if c.Form == Seldom {
		return "seldom polls in " + c.Before.At()
	}
	return "late receivers of " + c.Before.At()
}

func (c lateReceiver) advice(Neighbors) []string {
	at := c.Before.At()
	if c.Form == Seldom {
		return []string{fmt.Sprintf("Poll more often in %s, or wait in a blocking call where there is nothing else to do: %s idle between two polls, %s on average.", at, c.some("it is", "they are"), wording.Duration(c.EachSeconds))}
	}
	step := "Post receives earlier (MPI_Irecv before the computation), so that messages find them."
	if c.Form == NotInside {
		step = "Let the receiver enter MPI while it computes (MPI_Test now and then), divide the computation, or turn on the library's progress thread: such a message moves only while both sides are inside MPI."
	}
	if c.Completes {
		return []string{step, fmt.Sprintf("Or let the sender go on, and complete later what %s waits for.", at)}
	}
	return []string{step, fmt.Sprintf("Or let the sender go on: replace %s by a non-blocking send that is completed later.", at)}
}
