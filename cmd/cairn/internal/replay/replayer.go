package replay

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/reexecution"
	"github.com/cairn-mpi/cairn/tracer/setup"
)

// replayerOf returns the file name of the replayer that is linked with an MPI.
func replayerOf(abi setup.ABI) string { return "cairn-replay-" + abi }

// program finds the replayer for the launcher's MPI.
func (r *replay) program(recorded setup.ABI) (string, error) {
	abi := r.mpi
	if abi == "" {
		abi = launchersMPI(r.launcher[0])
	}
	if abi == "" {
		abi = recorded
	}
	return FindReplayer(abi)
}

// FindReplayer looks for the replayer for an MPI beside this binary.
func FindReplayer(abi setup.ABI) (string, error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return "", err
	}
	beside := filepath.Dir(self)
	for _, dir := range []string{filepath.Join(beside, "..", "lib"), filepath.Join(beside, "..", "lib", "cairn"), filepath.Join(beside, "lib"), beside} {
		program := filepath.Join(dir, replayerOf(abi))
		if _, err := os.Stat(program); err == nil {
			return filepath.Clean(program), nil
		}
	}
	return "", fmt.Errorf("%s is not beside this binary: 'make build' builds it if that MPI is installed", replayerOf(abi))
}

// launchersMPI returns the MPI that a launcher reports to belong to, or "" if it reports none: srun
// starts programs of any MPI.
func launchersMPI(launcher string) setup.ABI {
	out, err := exec.Command(launcher, "--version").Output()
	switch text := string(out); {
	case err != nil:
		return ""
	case strings.Contains(text, "Open MPI"), strings.Contains(text, "OpenRTE"), strings.Contains(text, "PRRTE"):
		return setup.OpenMPI
	case strings.Contains(text, "HYDRA"), strings.Contains(text, "MPICH"), strings.Contains(text, "Intel(R) MPI"):
		return setup.MPICH
	}
	return ""
}

// targetOf asks a replayer what its MPI has.
func targetOf(ctx context.Context, program string) (*reexecution.Target, error) {
	var problem bytes.Buffer
	cmd := exec.CommandContext(ctx, program, "--list")
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s does not run here: %w: %s", program, err, strings.TrimSpace(problem.String()))
	}
	target := &reexecution.Target{Functions: map[uint16]bool{}, Constants: map[uint16]bool{}}
	has := map[string]map[uint16]bool{"function": target.Functions, "constant": target.Constants}
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		what, number, _ := strings.Cut(lines.Text(), " ")
		id, err := strconv.ParseUint(number, 10, 16)
		if err != nil || has[what] == nil {
			return nil, fmt.Errorf("%s --list: %q", program, lines.Text())
		}
		has[what][uint16(id)] = true
	}
	return target, lines.Err()
}
