// Package tables tests the output of cairn export --format parquet with independent readers:
// DuckDB, and pandas through the Python package in python/cairn. Their results are compared with
// counts from the trace itself, and with the report's findings.
package tables
