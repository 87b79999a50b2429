// Package parquet writes a trace as tables, for DuckDB, pandas, Spark and other readers of Apache
// Parquet.
//
// The input is a trace, a time range and a selection of ranks; the output is a directory with a
// file per table: calls, messages, waits, path, ledger, ranks, communicators, sites. docs/tables.md
// documents the columns; the structs of tables.go are the schema.
//
// A call has a number, call_id, which is the same in all tables and in every export of a trace:
// calls are numbered thread by thread, in program order. Messages and waits come from one pass of
// matching (package match), with the wait states of the report (package waitstate). Path and ledger
// come from the analyses of these names. Calls are written last, thread by thread, because the
// waiting time of each must be known. Memory grows with ranks, call sites and pending operations,
// and with a row group (rowGroup rows) per table, not with calls.
package parquet
