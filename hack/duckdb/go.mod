// A module of its own, so that DuckDB is no dependency of the project:
// hack/install.sh builds main.go with the version that hack/lib.sh names.
module cairn/duckdb

go 1.26
