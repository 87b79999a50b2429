package cli_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracefile"
	"github.com/cairn-mpi/cairn/store"
)

func TestExitCodes(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		code  int
		quiet bool
	}{
		"usage":                {cli.UsageError(errors.New("what?")), 64, false},
		"wrapped usage":        {fmt.Errorf("run: %w", cli.UsageError(errors.New("what?"))), 64, false},
		"no such file":         {fs.ErrNotExist, 64, false},
		"no such object":       {&store.Error{Reason: store.NotFound}, 64, false},
		"storage":              {fmt.Errorf("merge: %w", &store.Error{Reason: store.Unreachable}), 69, false},
		"damaged trace":        {tracefile.Damaged("x.cairn", errors.New("checksum")), 65, false},
		"storage, not damaged": {tracefile.Damaged("x.cairn", &store.Error{Reason: store.Unreachable}), 69, false},
		"refused":              {fmt.Errorf("merge: %w", &store.Error{Reason: store.AccessDenied}), 77, false},
		"application":          {cli.StatusError(3, nil), 3, true},
		"anything else":        {errors.New("?"), 70, false},
	} {
		t.Run(name, func(t *testing.T) {
			code, quiet := cli.ExitCode(c.err)
			require.Equal(t, c.code, code)
			require.Equal(t, c.quiet, quiet)
		})
	}
}
