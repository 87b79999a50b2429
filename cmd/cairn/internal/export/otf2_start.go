//go:build !otf2

package export

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/cairn-mpi/cairn/analyzer/export/otf2"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
)

// otf2Command is this command built with OTF2's library, which needs cgo.
const otf2Command = "cairn-otf2"

// startOTF2 replaces this process with the command that has the library. It takes the same
// arguments.
func startOTF2() error {
	path, err := findOTF2()
	if err != nil {
		return err
	}
	if err := syscall.Exec(path, append([]string{path}, os.Args[1:]...), os.Environ()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// findOTF2 looks for the command beside this one, then on PATH.
func findOTF2() (string, error) {
	own, err := os.Executable()
	if err == nil {
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(own), otf2Command)); err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath(otf2Command)
	if err != nil {
		return "", cli.UsageError(fmt.Errorf("--format otf2 needs the command %s, which is neither beside %s nor on PATH: 'make bin/%s' builds it (Debian: gcc, pkg-config, libopen-trace-format2-dev)", otf2Command, own, otf2Command))
	}
	return path, nil
}

func writeOTF2(context.Context, string, timeline.Trace, otf2.Options) (otf2.Summary, error) {
	return otf2.Summary{}, errors.New("this command was built without OTF2's library")
}
