package scaling

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// textRows is the maximum number of rows of tables on a terminal.
const textRows = 15

// WriteText writes the findings for a terminal.
func (f *Findings) WriteText(w io.Writer) error {
	fmt.Fprintln(w, f.Text)
	for _, note := range f.Notes {
		fmt.Fprintln(w, "Note:", note)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\nRanks\truns\ttime of a rank\tspread\tin MPI_Init and MPI_Finalize\n")
	for _, s := range f.Sizes {
		spread := "-"
		if s.Runs > 1 {
			spread = fmt.Sprintf("%.0f%%", s.Spread)
		}
		fmt.Fprintf(t, "%d\t%d\t%s\t%s\t%s\n", s.Ranks, s.Runs, wording.Duration(s.Seconds), spread, wording.Duration(s.StartAndEnd))
	}
	if len(f.Sizes) >= minTimeSizes {
		f.writeTimes(t)
	}
	f.writeCounts(t)
	return t.Flush()
}

// writeTimes writes the times of the largest regions.
func (f *Findings) writeTimes(t io.Writer) {
	fmt.Fprintf(t, "\nTime of a rank\tat %d ranks\tshare\tof the longest\twaiting\tmodel\terror", f.largest().Ranks)
	for _, target := range f.Targets {
		fmt.Fprintf(t, "\tat %d\tfrom - to\tshare", target)
	}
	fmt.Fprintln(t)
	rows := 0
	for i := range f.Regions {
		r := &f.Regions[i]
		if !f.isAtLargest(r) {
			continue
		}
		if rows++; rows > textRows {
			break
		}
		now, waiting := r.Measured[len(r.Measured)-1], "-"
		if now.Waiting != nil && r.What == "mpi" {
			waiting = wording.Duration(*now.Waiting)
		}
		fmt.Fprintf(t, "%s\t%s\t%.1f%%\t%s\t%s\t", r.Name, wording.Duration(now.Seconds), now.Share, wording.Duration(now.MaxSeconds), waiting)
		if m := r.Seconds.Model; m != nil {
			fmt.Fprintf(t, "%s\t%.1f%%", m.Formula, m.Error)
		} else {
			fmt.Fprintf(t, "none: %s\t-", r.Seconds.NoModel)
		}
		for _, p := range r.Predicted {
			if p.Low == nil {
				fmt.Fprintf(t, "\t-\t-\t-")
				continue
			}
			fmt.Fprintf(t, "\t%s\t%s - %s\t%.1f%%", wording.Duration(p.Seconds), wording.Duration(*p.Low), wording.Duration(*p.High), p.Share)
		}
		fmt.Fprintln(t)
	}
}

// writeCounts writes calls and bytes of the largest regions that are calls.
func (f *Findings) writeCounts(t io.Writer) {
	last := f.Targets[len(f.Targets)-1]
	fmt.Fprintf(t, "\nCalls and bytes of a rank\tcalls at %d ranks\tmodel\tat %d\tbytes\tmodel\tat %d\n", f.largest().Ranks, last, last)
	rows := 0
	for i := range f.Regions {
		r := &f.Regions[i]
		if r.What != "mpi" || !f.isAtLargest(r) {
			continue
		}
		if rows++; rows > textRows {
			break
		}
		now, then := r.Measured[len(r.Measured)-1], r.Predicted[len(f.Targets)-1]
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Name,
			number(now.Calls), r.Calls.words(), orNone(then.Calls), orNone(now.Bytes), r.Bytes.words(), orNone(then.Bytes))
	}
}

// orNone formats a number that may be unknown.
func orNone(v *float64) string {
	if v == nil {
		return "-"
	}
	return number(rounded(*v, true))
}

// words returns the model of calls or bytes, or why there is none.
func (s *Series) words() string {
	switch {
	case s.Model == nil && s.NoModel == nothing:
		return "-"
	case s.Model == nil:
		return "none: " + s.NoModel
	case s.isExact():
		return s.Model.Formula
	}
	return fmt.Sprintf("%s (± %.1f%%)", s.Model.Formula, s.Model.Error)
}
