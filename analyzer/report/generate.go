package report

//go:generate go run ./schemagen -o ../../docs/report.schema.json
