package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/tracer/setup"
)

func newRunCommand() *cobra.Command {
	var (
		out       string
		verify    bool
		callSites string
		include   []string
		exclude   []string
		startOff  bool
		pointers  bool
		timing    timingFlags
		mode      modeFlags
	)
	c := &cobra.Command{
		Use:   "run [-o DIR] [--verify] -- COMMAND…",
		Short: "Trace an MPI program on this machine and say what makes it slow",
		Long: `Run starts COMMAND, records every MPI call of every rank that it starts on this machine, merges the ranks' traces
and analyzes them. It leaves DIR/trace.cairn, DIR/clock.json and DIR/report/; a command that starts several MPI worlds leaves one
folder each, DIR/run-0, DIR/run-1, ….

It exits with the command's own code if that is not zero, else with 70 if tracing or --verify failed, else with 0.`,
		Example: `  cairn run -- mpirun -np 4 ./app
  cairn run -o out --verify -- mpirun -np 16 ./app --iterations 100`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{errors.New("no command given: cairn run -- mpirun -np 4 ./app")}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if !slices.Contains(setup.CallSites, callSites) {
				return usageError{fmt.Errorf("--call-sites is %s, not %q", strings.Join(setup.CallSites, ", "), callSites)}
			}
			if err := checkControl(include, exclude); err != nil {
				return err
			}
			kept, err := timing.settings()
			if err != nil {
				return err
			}
			clustered, err := mode.settings()
			if err != nil {
				return err
			}
			r := localRun{timing: kept, mode: clustered, out: out, verify: verify, callSites: callSites, pointers: pointers, include: include, exclude: exclude, startOff: startOff, command: args, stdout: c.OutOrStdout(), stderr: c.ErrOrStderr()}
			return r.run(c.Context())
		},
	}
	// what follows the first argument is the program's, also without --
	c.Flags().SetInterspersed(false)
	c.Flags().StringVarP(&out, "output", "o", "cairn-out", "directory for trace and report")
	c.Flags().BoolVar(&verify, "verify", false, "write an independent log of every call, and compare the decoded trace with it")
	timing.register(c.Flags())
	mode.register(c.Flags())
	c.Flags().StringVar(&callSites, "call-sites", "caller", "caller: keep where each call was made; path: and from where that was called; none: neither")
	c.Flags().BoolVar(&pointers, "pointers", false, "keep what memory pointers lead to (heap, stack, static data, devices); every allocation takes a little longer")
	registerControl(c, &include, &exclude, &startOff)
	return c
}

// prepareTracer makes a tracer root below dir: the libraries, this binary, the configuration and an empty spool. It
// returns the value of LD_PRELOAD. The libraries of both MPIs are loaded; the one that is not meant passes calls through.
func prepareTracer(dir string, config setup.Config) (preload string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	libraries, err := setup.FindLibraries(self)
	if err != nil {
		return "", err
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	for _, shared := range []string{config.Spool, filepath.Join(config.Spool, "symbols")} {
		if err := os.MkdirAll(shared, 0o755); err != nil {
			return "", err
		}
		// the ranks may run as another user than this process; the sticky bit needs a chmod, whatever the umask
		if err := os.Chmod(shared, 0o777|os.ModeSticky); err != nil {
			return "", err
		}
	}
	if err := os.Symlink(libraries, filepath.Join(dir, "lib")); err != nil {
		return "", err
	}
	if err := os.Symlink(self, filepath.Join(dir, "cairn")); err != nil {
		return "", err
	}
	raw, err := json.Marshal(config)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), raw, 0o644); err != nil {
		return "", err
	}
	var shims []string
	if before := os.Getenv("LD_PRELOAD"); before != "" {
		shims = append(shims, before)
	}
	for _, abi := range []setup.ABI{setup.OpenMPI, setup.MPICH} {
		// one that was not built is left out: the loader would complain in every process
		if shim := filepath.Join(dir, "lib", abi.Shim()); exists(shim) {
			shims = append(shims, shim)
		}
	}
	if config.Pointers {
		shims = append(shims, filepath.Join(dir, "lib", setup.AllocationsLibrary))
	}
	return strings.Join(shims, ":"), nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// execute runs the application with the tracer and returns its exit code, as a shell would give it. An interrupt
// from the terminal goes to the application, which is in the same process group; Cairn stays to collect.
func execute(ctx context.Context, command []string, environment []string) int {
	// caught and dropped, not ignored: an ignored signal would stay ignored in the application
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, syscall.SIGINT, syscall.SIGQUIT)
	defer signal.Stop(interrupts)
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = environment
	err := cmd.Run()
	if cmd.ProcessState == nil {
		fmt.Fprintln(os.Stderr, "cairn:", err)
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
			return 127
		}
		return 126
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return cmd.ProcessState.ExitCode()
}
