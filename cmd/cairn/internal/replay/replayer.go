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

// functionsOf asks a replayer which functions its MPI has.
func functionsOf(ctx context.Context, program string) (func(id uint16) bool, error) {
	var problem bytes.Buffer
	cmd := exec.CommandContext(ctx, program, "--functions")
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s does not run here: %w: %s", program, err, strings.TrimSpace(problem.String()))
	}
	has := map[uint16]bool{}
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		id, err := strconv.ParseUint(lines.Text(), 10, 16)
		if err != nil {
			return nil, fmt.Errorf("%s --functions: %w", program, err)
		}
		has[uint16(id)] = true
	}
	return func(id uint16) bool { return has[id] }, lines.Err()
}
