package analyze

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"
	"text/tabwriter"

	"github.com/cairn-mpi/cairn/analyzer/report"
	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/store"
)

//go:embed jobpage.html.tmpl
var jobPageText string

var jobPage = template.Must(template.New("").Parse(jobPageText))

// A jobRow is a run on the page of its job.
type jobRow struct {
	messages.Run
	Link    string // to its report; "" without one
	Verdict string // or the reason why there is none
}

func (r jobRow) Efficiency() string {
	if r.ParallelEfficiencyPercent == nil {
		return "–"
	}
	return fmt.Sprintf("%d%%", *r.ParallelEfficiencyPercent)
}

// writeJob adds the results of the reports to the list of runs. If there are several runs, it also
// writes a page and a summary that link to their reports. Other commands read only the list.
func writeJob(ctx context.Context, s store.Store, url string, runs []reportedRun, result messages.Report) error {
	index := messages.Index{Runs: []messages.Run{}}
	var rows []jobRow
	for i := range runs {
		index.Runs = append(index.Runs, runs[i].Run)
		row := jobRow{Run: runs[i].Run, Verdict: runs[i].Failed}
		if runs[i].written {
			row.Link, row.Verdict = runOf(row.Run).key("report", report.PageFile), runs[i].verdict
		}
		rows = append(rows, row)
	}
	raw, err := json.Marshal(index)
	if err != nil {
		return err
	}
	if err := storage.PutBytes(ctx, s, messages.IndexFile, raw); err != nil {
		return err
	}
	if len(runs) < 2 {
		return nil
	}
	name, _ := jobName(url)
	if err := storage.PutBytes(ctx, s, messages.SummaryFile, jobSummary(name, rows, result)); err != nil {
		return err
	}
	var page bytes.Buffer
	err = jobPage.Execute(&page, struct {
		Name   string
		Rows   []jobRow
		Result messages.Report
	}{name, rows, result})
	if err != nil {
		return err
	}
	return storage.PutBytes(ctx, s, messages.PageFile, page.Bytes())
}

// jobSummary is the job's page as text for a terminal.
func jobSummary(name string, rows []jobRow, result messages.Report) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s: %d runs\n\n%s\n", name, len(rows), result.Verdict)
	if result.Message != "" {
		fmt.Fprintf(&b, "\n%s\n", result.Message)
	}
	b.WriteString("\n")
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "RUN\tRANKS\tMISSING\tCALLS\tNOT RECORDED\tEFFICIENCY\tREPORT")
	for _, row := range rows {
		fmt.Fprintf(table, "%s\t%d\t%s\t%d\t%d\t%s\t%s\n", row.ID, row.Ranks, orDash(row.MissingRanks), row.Calls, row.CallsLost,
			row.Efficiency(), orDash(strings.TrimSuffix(row.Link, report.PageFile)))
	}
	_ = table.Flush() // writes into memory
	return b.Bytes()
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
