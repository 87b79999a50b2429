package main

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/store"
)

func TestExitCodes(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		code  int
		quiet bool
	}{
		"usage":                {usageError(errors.New("what?")), 64, false},
		"wrapped usage":        {fmt.Errorf("run: %w", usageError(errors.New("what?"))), 64, false},
		"no such file":         {fs.ErrNotExist, 64, false},
		"no such object":       {&store.Error{Reason: store.NotFound}, 64, false},
		"storage":              {fmt.Errorf("merge: %w", &store.Error{Reason: store.Unreachable}), 69, false},
		"damaged trace":        {damaged("x.cairn", errors.New("checksum")), 65, false},
		"storage, not damaged": {damaged("x.cairn", &store.Error{Reason: store.Unreachable}), 69, false},
		"refused":              {fmt.Errorf("merge: %w", &store.Error{Reason: store.AccessDenied}), 77, false},
		"application":          {statusError(3, nil), 3, true},
		"anything else":        {errors.New("?"), 70, false},
	} {
		t.Run(name, func(t *testing.T) {
			code, quiet := exitCode(c.err)
			require.Equal(t, c.code, code)
			require.Equal(t, c.quiet, quiet)
		})
	}
}
