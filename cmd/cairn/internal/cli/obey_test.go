package cli

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// A command that does not react to a signal is abandoned.
func TestCommandThatIgnoresSignalsIsAbandoned(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, c := range Obey(&cobra.Command{Use: "deaf", SilenceUsage: true, SilenceErrors: true, RunE: func(*cobra.Command, []string) error { select {} }}) {
		time.AfterFunc(10*time.Millisecond, cancel)
		c.SetArgs(nil)
		err := c.ExecuteContext(ctx)
		require.ErrorIs(t, err, context.Canceled)
		code, quiet := ExitCode(err)
		require.Equal(t, 128+int(syscall.SIGTERM), code)
		require.False(t, quiet)
	}
}
