package verdict

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/cairn-mpi/cairn/trace"
)

// maxReasons is the number of reasons for lost calls in a sentence.
const maxReasons = 2

// Recorded returns the sentence about what is missing in a trace, for the beginning of a report; ""
// if nothing is. missing are ranks, calls is the number of recorded calls, coarse are those for
// which there are only sums of times.
func Recorded(world int, missing trace.RankList, calls uint64, losses []trace.Loss, coarse []trace.Coarse) string {
	var parts []string
	if missing.Len() > 0 {
		parts = append(parts, fmt.Sprintf("%s of %d left no trace", names(missing.String(), missing.Len()), world))
	}
	lost, reasons := uint64(0), []string(nil)
	for i, loss := range losses {
		lost += loss.Calls
		switch {
		case i < maxReasons:
			reasons = append(reasons, fmt.Sprintf("%s (%s)", loss.Why, names(loss.Ranks.String(), loss.Ranks.Len())))
		case i == maxReasons:
			reasons = append(reasons, "for other reasons")
		}
	}
	if lost > 0 {
		parts = append(parts, fmt.Sprintf("%s not recorded, because %s", share(lost, lost+calls, missing.Len() > 0), strings.Join(reasons, ", and ")))
	}
	var sentences []string
	if len(parts) > 0 {
		sentences = append(sentences, capital(strings.Join(parts, ", and "))+"; what follows is about the rest.")
	}
	if n, ranks := trace.CoarseCalls(coarse); n > 0 {
		sentences = append(sentences, fmt.Sprintf("%s reduced to sums of times, because the spool was close to its limit or the compressor could not follow (%s); who waited for whom is not known there.",
			share(n, calls, false), names(ranks.String(), ranks.Len())))
	}
	return strings.Join(sentences, " ")
}

// share formats the fraction of the calls that was lost: "93% of the calls (11,214,754 of
// 12,024,008) were".
func share(lost, all uint64, others bool) string {
	whose := ""
	if others {
		whose = " of the other ranks"
	}
	verb := "were"
	if lost == 1 {
		verb = "was"
	}
	a, b := humanize.Comma(int64(lost)), humanize.Comma(int64(all))
	percent := 100 * float64(lost) / float64(all)
	if percent < 1 {
		return fmt.Sprintf("%s of the %s calls%s %s", a, b, whose, verb)
	}
	shown := fmt.Sprintf("%.0f", percent)
	if shown == "100" && lost < all {
		shown = "more than 99"
	}
	return fmt.Sprintf("%s%% of the calls%s (%s of %s) were", shown, whose, a, b)
}
