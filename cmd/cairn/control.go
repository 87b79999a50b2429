package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/mpi"
)

// registerControl adds the flags that say what is recorded.
func registerControl(c *cobra.Command, include, exclude *[]string, startOff *bool) {
	var names []string
	for _, g := range mpi.Groups {
		names = append(names, string(g))
	}
	groups := " (" + strings.Join(names, ", ") + ")"
	c.Flags().StringSliceVar(include, "include", nil, "record only these groups of functions"+groups)
	c.Flags().StringSliceVar(exclude, "exclude", nil, "leave these groups out; calls that give or end a handle are recorded all the same")
	c.Flags().BoolVar(startOff, "start-off", false, "record nothing but the lives of handles until the program calls MPI_Pcontrol(1)")
}

// checkControl refuses names that no group has.
func checkControl(include, exclude []string) error {
	if len(include) > 0 && len(exclude) > 0 {
		return usageError{errors.New("--include and --exclude do not go together")}
	}
	for _, list := range [][]string{include, exclude} {
		if _, err := mpi.ParseGroups(list); err != nil {
			return usageError{err}
		}
	}
	return nil
}
