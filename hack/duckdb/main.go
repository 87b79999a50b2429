// The duckdb command that the tests need: it runs one statement, as DuckDB's own
// command does with -c.
package main

import (
	"database/sql"
	"flag"
	"fmt"
	"os"

	_ "github.com/duckdb/duckdb-go/v2"
)

func main() {
	statement := flag.String("c", "", "the statement to run; COPY … TO '/dev/stdout' prints")
	flag.Parse()
	if err := run(*statement); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(statement string) error {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.Exec(statement)
	return err
}
