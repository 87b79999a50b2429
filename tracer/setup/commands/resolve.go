package commands

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/cairn-mpi/cairn/tracer/symbols"
)

// Resolve runs "cairn resolve", which a rank starts for its own binaries, since they exist only in
// its container. It writes <build-id>.json. Nothing waits for it.
func Resolve(args []string, s Streams) error {
	flags := pflag.NewFlagSet("cairn resolve", pflag.ContinueOnError)
	flags.SetOutput(s.Out)
	executable := flags.String("executable", "", "the binary")
	out := flags.String("out", "", "directory for <build-id>.json")
	switch err := flags.Parse(args); {
	case errors.Is(err, pflag.ErrHelp):
		return nil
	case err != nil:
		return usageError{err}
	case *executable == "" || *out == "" || flags.NArg() > 0:
		return usageError{errors.New("resolve takes --executable FILE and --out DIR")}
	}
	_, err := symbols.Resolve(*executable, *out)
	return err
}

// usageError is an error of the arguments.
type usageError struct{ error }

// IsUsage reports whether an error is one of the arguments.
func IsUsage(err error) bool {
	var usage usageError
	return errors.As(err, &usage)
}
