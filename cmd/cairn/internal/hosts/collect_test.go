package hosts

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A launcher that does not end is ended, and says nothing after that.
func TestLauncherIsEnded(t *testing.T) {
	ended := errors.New("SIGINT")
	ctx, cancel := context.WithCancelCause(t.Context())
	begun := time.Now()
	time.AfterFunc(100*time.Millisecond, func() { cancel(ended) })
	err := listen(ctx, []string{"sh", "-c", "exec sleep 60"}, func(out io.Reader) error {
		_, err := io.ReadAll(out)
		return err
	})
	require.ErrorIs(t, err, ended)
	require.Less(t, time.Since(begun), startLimit)
}

// A further start of the launcher does not write to the files of the job.
func TestLauncherWritesToNoFile(t *testing.T) {
	for _, variable := range ofOutput {
		t.Setenv(variable, "job.log")
	}
	t.Setenv("OTHER", "job.log")
	var said []byte
	require.NoError(t, listen(t.Context(), []string{"sh", "-c", "env | grep job.log"}, func(out io.Reader) (err error) {
		said, err = io.ReadAll(out)
		return err
	}))
	require.Equal(t, "OTHER=job.log\n", string(said))
}
