package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// maxPythonLine is the maximum number of ns that the line of Python may add to a call.
const maxPythonLine = 200

// newFortranCommand makes the rows of the time that the tracer adds to calls from C and from
// Fortran, as medians. A line of each file is a call and ns. The files are, in order: from C
// without and with the tracer, from Fortran without and with it.
func newFortranCommand() *cobra.Command {
	var mpi, wanted string
	c := &cobra.Command{
		Use: "fortran C C-TRACED FORTRAN FORTRAN-TRACED", Short: "Time added to calls from Fortran (hack/bench/fortran.sh)", Args: cobra.ExactArgs(4),
		RunE: func(_ *cobra.Command, args []string) error {
			of, err := readCalls(args)
			if err != nil {
				return err
			}
			return printFortran(os.Stdout, mpi, strings.Fields(wanted), of)
		},
	}
	c.Flags().StringVar(&mpi, "mpi", "", "for the first column")
	c.Flags().StringVar(&wanted, "calls", "", "the calls, in order")
	return c
}

func printFortran(to io.Writer, mpi string, wanted []string, of []map[string][]float64) error {
	for _, call := range wanted {
		ns, err := mediansOf(call, of)
		if err != nil {
			return err
		}
		c, fortran := ns[1]-ns[0], ns[3]-ns[2]
		fmt.Fprintf(to, "%-8s %-20s %9.1f %9.1f %9.1f %9.1f %14.1f\n", mpi, call, ns[0], c, ns[2], fortran, fortran-c)
	}
	return nil
}

// newPythonCommand makes the rows of the cost of the line of Python, as medians. A line of each
// file is a loop and ns.
func newPythonCommand() *cobra.Command {
	return &cobra.Command{
		Use: "python ALONE NONE CALLER", Short: "What the line of Python adds to a call (hack/bench/python.sh)", Args: cobra.ExactArgs(3),
		RunE: func(_ *cobra.Command, args []string) error {
			of, err := readCalls(args)
			if err != nil {
				return err
			}
			return printPython(os.Stdout, of)
		},
	}
}

func printPython(to io.Writer, of []map[string][]float64) error {
	for _, loop := range []string{"held", "released"} { // the interpreter's lock
		ns, err := mediansOf(loop, of)
		if err != nil {
			return err
		}
		added := ns[2] - ns[1]
		fmt.Fprintf(to, "%-10s %10.1f %10.1f %10.1f %18.1f  target <= %d: %s\n", loop, ns[0], ns[1], ns[2], added, maxPythonLine, verdict(added <= maxPythonLine))
	}
	return nil
}

// readCalls reads the times of calls from files.
func readCalls(paths []string) ([]map[string][]float64, error) {
	var of []map[string][]float64
	for _, path := range paths {
		all, err := readFile(path, 1, 1, 1)
		if err != nil {
			return nil, err
		}
		of = append(of, calls(all))
	}
	return of, nil
}

// mediansOf returns the medians of a call, file by file.
func mediansOf(call string, of []map[string][]float64) ([]float64, error) {
	var medians []float64
	for i, times := range of {
		if len(times[call]) == 0 {
			return nil, fmt.Errorf("file %d has nothing of %s", i+1, call)
		}
		medians = append(medians, median(times[call]))
	}
	return medians, nil
}
