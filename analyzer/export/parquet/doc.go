// Package parquet writes a trace as tables, for DuckDB, pandas, Spark and whatever else reads Apache Parquet.
//
// In go a trace, a time range and a choice of ranks; out comes a directory with a file per table: calls, messages, waits,
// path, ledger, ranks, communicators, sites. docs/tables.md says what each column means; the structs of tables.go are the
// schema.
//
// A call has a number, call_id, which is the same in all tables and in every export of a trace: calls are counted thread by
// thread, in the order in which each made them. Messages and waits come from one pass of matching (package match) with the
// wait states that the report has (package waitstate), path and ledger from package criticalpath. Calls come last, thread by
// thread, since only then it is known how long each waited. Memory grows with ranks, call sites and pending operations, and
// with a row group (rowGroup rows) per table, not with calls.
package parquet
