"""Reads one Parquet file as a data frame."""

import importlib.util
import json
import os
import shutil
import subprocess
import tempfile

import pandas


def read_table(path):
    """The file as a data frame whose columns have pandas' nullable types."""
    if importlib.util.find_spec("pyarrow") or importlib.util.find_spec("fastparquet"):
        return pandas.read_parquet(path).convert_dtypes()
    if shutil.which("duckdb"):
        return _with_duckdb(path)
    raise ImportError("nothing here reads Parquet: install pyarrow, or DuckDB's command duckdb (https://duckdb.org)")


# types of DuckDB as pandas has them; all others are text
_TYPES = {"BIGINT": "Int64", "INTEGER": "Int32", "DOUBLE": "Float64", "BOOLEAN": "boolean", "VARCHAR": "string"}


def _with_duckdb(path):
    columns = _query(f"SELECT column_name, column_type FROM (DESCRIBE FROM {_quoted(path)})", dtype="string")
    kinds = dict(zip(columns["column_name"], columns["column_type"]))
    lists = [name for name, kind in kinds.items() if kind.endswith("[]")]
    select = ", ".join(f'to_json("{name}") AS "{name}"' if name in lists else f'"{name}"' for name in kinds)
    table = _query(
        f"SELECT {select} FROM {_quoted(path)}",
        dtype={name: _TYPES.get(kind, "string") for name, kind in kinds.items()},
        true_values=["true"],
        false_values=["false"],
    )
    for name in lists:
        table[name] = table[name].map(json.loads)
    return table


def _query(select, **how):
    """The result of a query. DuckDB writes it as CSV, in which what is null is nothing, and text is quoted."""
    with tempfile.TemporaryDirectory() as directory:
        out = os.path.join(directory, "table.csv")
        statement = f"COPY ({select}) TO {_quoted(out)} (FORMAT csv, HEADER true)"
        done = subprocess.run(["duckdb", "-c", statement], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            raise OSError(f"duckdb: {done.stderr.strip()}")
        return pandas.read_csv(out, keep_default_na=False, na_values=[""], **how)


def _quoted(text):
    return "'" + text.replace("'", "''") + "'"
