// Package tables tests what cairn export --format parquet writes with readers that are not ours: DuckDB, and pandas through the
// Python package in python/cairn. What they find is compared with what is counted in the trace itself, and in the report's
// findings.
package tables
