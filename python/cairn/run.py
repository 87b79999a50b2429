"""A run: its tables, and what is often asked of them."""

import os

from cairn.reader import read_table

TABLES = ("calls", "messages", "waits", "path", "ledger", "ranks", "communicators", "sites")


class Run:
    """The tables of one trace: each of TABLES is an attribute."""

    def __init__(self, directory):
        self.directory = os.fspath(directory)
        self._tables = {}
        if not os.path.exists(self._file("calls")):
            raise FileNotFoundError(
                f"{self.directory} has no calls.parquet: `cairn export trace.cairn --format parquet -o {self.directory}` writes it"
            )

    def _file(self, table):
        return os.path.join(self.directory, table + ".parquet")

    def table(self, name):
        """A table as a data frame. Traces without the times of single calls lack messages, waits, path and ledger."""
        if name not in self._tables:
            if not os.path.exists(self._file(name)):
                raise FileNotFoundError(f"{self._file(name)}: the trace has no such table, see docs/tables.md")
            self._tables[name] = read_table(self._file(name))
        return self._tables[name]

    def __getattr__(self, name):
        if name in TABLES:
            return self.table(name)
        raise AttributeError(name)

    def __dir__(self):
        return [*super().__dir__(), *TABLES]

    def time_by_function(self):
        """Calls, time in them and waiting of that, in nanoseconds, by function; the longest first."""
        by = self.calls.groupby("function", observed=True)
        sums = by.agg(calls=("call_id", "size"), duration_ns=("duration_ns", "sum"), waiting_ns=("waiting_ns", "sum"))
        return sums.sort_values("duration_ns", ascending=False)

    def communication_matrix(self, values="bytes"):
        """What each rank (rows) sent to each rank (columns): "bytes", or "messages"."""
        by = self.messages.groupby(["send_rank", "recv_rank"])
        cells = by.size() if values == "messages" else by[values].sum()
        matrix = cells.unstack(fill_value=0)
        ranks = self.ranks["rank"].tolist()
        matrix = matrix.reindex(index=ranks, columns=ranks, fill_value=0).astype("int64")
        return matrix.rename_axis(index="send_rank", columns="recv_rank")

    def waits_by_cause(self):
        """How often and how long, in nanoseconds, ranks waited for each rank, by kind of waiting; the longest first."""
        by = self.waits.groupby(["cause_rank", "kind"])
        sums = by.agg(waits=("call_id", "size"), waiting_ns=("waiting_ns", "sum"))
        return sums.sort_values("waiting_ns", ascending=False)
