"""Data frames of an MPI trace.

In goes the directory that `cairn export trace.cairn --format parquet -o DIR` wrote; out come pandas data frames, a table each:

    import cairn
    run = cairn.load("DIR")
    run.calls                   # a data frame; docs/tables.md has every column
    run.time_by_function()      # where the time of MPI calls went
    run.communication_matrix()  # bytes from rank to rank
    run.waits_by_cause()        # who kept whom waiting

Tables are read when they are first asked for. Integers that may be null are pandas' nullable ones, so that nanoseconds stay
exact. Parquet is read by what is there: pandas with pyarrow or fastparquet, else the command `duckdb`.
"""

from cairn.run import Run, TABLES

__all__ = ["Run", "TABLES", "load"]


def load(directory):
    """The tables in a directory, as a Run."""
    return Run(directory)
