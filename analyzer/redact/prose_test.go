package redact_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/analyzer/redact"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// Names that a trace has only in texts for people: what is a name goes, what is said of it stays.
func TestTextsForPeople(t *testing.T) {
	for text, want := range map[string]string{
		"stencil-worker-3: process nid00017.4711 of world a1b2c3 cannot be used: out of memory": "word-1: process word-2 of world word-3 cannot be used: out of memory",
		`Put "http://minio.svc:9000/traces/job/part-3": dial tcp 10.0.0.5:9000: refused`:        `Put "address-1": dial tcp address-2: refused`,
		"dial tcp [fd00:1::5e]:9000: i/o timeout; lookup minio.svc: no such host":               "dial tcp address-1: i/o timeout; lookup word-1: no such host",
		"s3://traces/default has 16MiB of 3 ranks 0-7, 1.5 s, in MPI_Send, of alpha.":           "address-1 has 16MiB of 3 ranks 0-7, 1.5 s, in MPI_Send, of host-1.",
		"open spool/process.json: read-only file system; a/b and I/O stay":                      "open word-1: read-only file system; a/b and I/O stay",
		"ranks disagree on the members of communicator MPI_COMM_WORLD/7":                        "ranks disagree on the members of communicator MPI_COMM_WORLD/7",
		"on alpha.example.org std::bad_alloc at 12:30":                                          "on word-1 std::word-2 at 12:30",
	} {
		b := tracetest.New(1)
		b.Rank(0).Info().Host = "alpha"
		b.Rank(0).Init(0, 1).Finalize(2, 3)
		b.Comm("MPI_COMM_WORLD/7", 0)
		b.Meta().Notes = []string{text}
		c := b.Content()
		redact.Content(c, redact.All)
		assert.Equal(t, []string{want}, c.Meta.Notes)
		c = b.Content()
		c.Meta.Notes = []string{text}
		redact.Content(c, redact.What{Arguments: true})
		assert.Equal(t, []string{text}, c.Meta.Notes, "neither hosts nor paths were asked for")
	}
}
