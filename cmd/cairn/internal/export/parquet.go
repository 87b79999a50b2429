package export

import (
	"context"
	"errors"
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/export/parquet"
)

var parquetExporter = exporter{
	format: "parquet",
	about: `parquet: a directory of tables for DuckDB, pandas and other readers of Apache Parquet: calls, messages, waits, path
(the critical path), ledger (where the time went), ranks, communicators, sites. docs/tables.md has every column; the
package python/cairn loads them as data frames. Tables of an earlier export in the directory are replaced.
If rounded times or clocks show a message as received before it was sent, the receive is moved after the send, in calls
and messages. The summary and cairn.causality in the files' metadata report how often, and by how much at most.`,
	write: exportParquet,
}

func exportParquet(ctx context.Context, r exportRequest) (string, error) {
	s, err := parquet.Write(ctx, r.Out, r.Trace, parquet.Options{From: r.From, To: r.To, Ranks: r.Ranks, Clock: r.Clock})
	if errors.Is(err, parquet.ErrNothing) {
		return "", errNothingToExport
	}
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("%d calls, %d messages, %d waits, %d path segments, %d bytes", s.Calls, s.Messages, s.Waits, s.Segments, s.Bytes)
	if s.Repairs != nil {
		text += "; " + s.Repairs.Text()
	}
	text = r.with(text)
	for _, left := range s.Left {
		text += "\n" + left
	}
	return text, nil
}
