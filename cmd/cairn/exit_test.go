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
		"usage":                {usageError{errors.New("what?")}, 64, false},
		"wrapped usage":        {fmt.Errorf("run: %w", usageError{errors.New("what?")}), 64, false},
		"no such file":         {fs.ErrNotExist, 64, false},
		"no such object":       {&store.Error{Reason: store.NotFound}, 64, false},
		"storage":              {fmt.Errorf("merge: %w", &store.Error{Reason: store.Unreachable}), 69, false},
		"damaged trace":        {damaged("x.cairn", errors.New("checksum")), 65, false},
		"storage, not damaged": {damaged("x.cairn", &store.Error{Reason: store.Unreachable}), 69, false},
		"refused":              {fmt.Errorf("merge: %w", &store.Error{Reason: store.AccessDenied}), 77, false},
		"application":          {statusError{code: 3}, 3, true},
		"anything else":        {errors.New("?"), 70, false},
	} {
		t.Run(name, func(t *testing.T) {
			code, quiet := exitCode(c.err)
			require.Equal(t, c.code, code)
			require.Equal(t, c.quiet, quiet)
		})
	}
}

func TestUsageOfCommands(t *testing.T) {
	for _, arguments := range [][]string{
		{"run"}, {"run", "--call-sites", "everything", "--", "true"}, {"merge", "-o", "x"}, {"merge", "a.cairn"}, {"analyze", "a.cairn"},
		{"merge", "--job", "a.cairn"}, {"analyze", "--job"}, {"report"}, {"check-storage"}, {"info", "--no-such-flag", "x"}, {"info"}, {"dump", "a", "b"}, {"export", "x"}, {"export", "x", "-o", "y", "--format", "z"}, {"export", "x", "-o", "y", "--ranks", "3-1"}, {"export", "x", "-o", "y", "--from", "2s", "--to", "1s"}, {"analyze", "x", "-o", "y", "--from", "2", "--to", "1"}, {"analyze", "--job", "--store", "x", "--analysis", "clusters", "--from", "1"}, {"predict"}, {"no-such-command"},
	} {
		c := newRootCommand()
		c.SetArgs(arguments)
		err := c.Execute()
		code, _ := exitCode(err)
		require.Equal(t, 64, code, "%v: %v", arguments, err)
	}
}
