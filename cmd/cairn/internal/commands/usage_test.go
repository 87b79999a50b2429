package commands_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/commands"
)

func TestUsageOfCommands(t *testing.T) {
	for _, arguments := range [][]string{
		{"run"}, {"run", "--call-sites", "everything", "--", "true"}, {"merge", "-o", "x"}, {"merge", "a.cairn"}, {"analyze", "a.cairn"},
		{"merge", "--job", "a.cairn"}, {"analyze", "--job"}, {"report"}, {"check-storage"}, {"info", "--no-such-flag", "x"}, {"info"}, {"dump", "a", "b"}, {"export", "x"}, {"export", "x", "-o", "y", "--format", "z"}, {"export", "x", "-o", "y", "--ranks", "3-1"}, {"export", "x", "-o", "y", "--from", "2s", "--to", "1s"}, {"analyze", "x", "-o", "y", "--from", "2", "--to", "1"}, {"analyze", "--job", "--store", "x", "--analysis", "clusters", "--from", "1"}, {"predict"}, {"no-such-command"},
	} {
		c := commands.Root()
		c.SetArgs(arguments)
		err := c.Execute()
		code, _ := cli.ExitCode(err)
		require.Equal(t, 64, code, "%v: %v", arguments, err)
	}
}
