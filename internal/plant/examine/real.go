package examine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/plant"
)

// MPIs are the MPIs under which real plants run.
var MPIs = []string{"openmpi", "mpich"}

// pauseUS is how long idle ranks sleep at a time, so that they leave their core to those that
// compute.
const pauseUS = 50

// A Machine runs real plants on this machine, one at a time.
type Machine struct {
	root string // of the project
	dir  string // for the programs, their files, and the traces
}

// NewMachine builds the plants for both MPIs. root is the project's folder, in which `make build`
// has been run.
func NewMachine(ctx context.Context, root string) (*Machine, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(root, "bin", "cairn")); err != nil {
		return nil, fmt.Errorf("examine: %w: `make build` makes it", err)
	}
	m := &Machine{root: root}
	if m.dir, err = os.MkdirTemp("", "cairn-plants"); err != nil {
		return nil, err
	}
	builds := [][]string{{"make", "-s", "-C", filepath.Join(root, "test", "yield")}}
	for _, mpi := range MPIs {
		builds = append(builds, []string{
			"mpicc." + mpi, "-std=gnu11", "-O1", "-g", "-Wall", "-Werror", "-pthread", "-o", m.program(mpi),
			filepath.Join(root, "test", "plants", "program", "plants.c"),
		})
	}
	for _, b := range builds {
		if out, err := exec.CommandContext(ctx, b[0], b[1:]...).CombinedOutput(); err != nil {
			return nil, errors.Join(fmt.Errorf("examine: %v: %w\n%s", b, err, out), m.Close())
		}
	}
	return m, nil
}

// Close removes the machine's files.
func (m *Machine) Close() error { return os.RemoveAll(m.dir) }

func (m *Machine) yield() string             { return filepath.Join(m.root, "out", "yield.so") }
func (m *Machine) out() string               { return filepath.Join(m.dir, "out") }
func (m *Machine) program(mpi string) string { return filepath.Join(m.dir, "plants."+mpi) }

// hangs is the time after which a failing plant is killed.
const hangs = 3 * time.Second

// command returns the command line of a real plant.
func (m *Machine) command(p *plant.Plant, mpi string, mended bool) []string {
	var c []string
	if k, err := plant.KindOf(p.Kind); err == nil && k.Class == plant.Failure {
		c = append(c, "timeout", "-s", "TERM", "-k", "5", strconv.FormatFloat(hangs.Seconds(), 'g', -1, 64))
	}
	c = append(c, "mpirun."+mpi, "-np", strconv.Itoa(p.Ranks))
	if mpi == "openmpi" {
		c = append(c, "--oversubscribe", "--mca", "mpi_yield_when_idle", "1")
	}
	return slices.Concat(c, []string{m.program(mpi)}, p.Arguments(mended, m.dir))
}

// A run is the part of report.json that is used.
type run struct {
	Seconds float64         `json:"run_seconds"`
	Verdict verdict.Verdict `json:"verdict"`
}

// run runs a plant under `cairn run`, with out as its folder, and reads its report.
func (m *Machine) run(ctx context.Context, p *plant.Plant, mpi string, mended bool, out string) (*run, error) {
	hogs, err := m.startHogs(ctx, mpi, p.Hogs(mended))
	defer func() {
		for _, h := range hogs {
			_ = h.Process.Kill()
			_ = h.Wait()
		}
	}()
	if err != nil {
		return nil, err
	}
	arguments := append([]string{"run", "--force", "--call-sites", "path", "-o", out, "--"}, m.command(p, mpi, mended)...)
	c := exec.CommandContext(ctx, filepath.Join(m.root, "bin", "cairn"), arguments...)
	var text bytes.Buffer
	c.Stdout, c.Stderr = &text, &text
	c.Env = m.Environment()
	c.WaitDelay = 5 * time.Second
	ended := c.Run()
	raw, err := os.ReadFile(filepath.Join(out, "report", "report.json"))
	if err != nil {
		return nil, fmt.Errorf("%v: %w\n%s", p, errors.Join(ended, err), text.Bytes())
	}
	if k, err := plant.KindOf(p.Kind); ended != nil && err == nil && k.Class != plant.Failure {
		return nil, fmt.Errorf("%v: %w\n%s", p, ended, text.Bytes())
	}
	var r run
	return &r, json.Unmarshal(raw, &r)
}

// Environment returns the environment of programs whose idle ranks leave their core to others.
func (m *Machine) Environment() []string {
	return append(os.Environ(), "LD_PRELOAD="+m.yield(), fmt.Sprintf("CAIRN_TEST_PAUSE_US=%d", pauseUS),
		"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
}

// startHogs starts processes that only compute.
func (m *Machine) startHogs(ctx context.Context, mpi string, n int) (hogs []*exec.Cmd, err error) {
	for range n {
		c := exec.CommandContext(ctx, m.program(mpi), "--hog")
		if err := c.Start(); err != nil {
			return hogs, err
		}
		hogs = append(hogs, c)
	}
	return hogs, nil
}

// mendedRuns is the number of runs of a mended plant. A gain cannot be known better than their
// spread.
const mendedRuns = 3

// Judge runs a real plant once and judges its report, without measuring its loss. keep is a folder
// for its trace and report; "": they are removed.
func (m *Machine) Judge(ctx context.Context, p *plant.Plant, mpi, keep string) (*Result, error) {
	truth, err := p.Truth()
	if err != nil {
		return nil, err
	}
	found, err := m.run(ctx, p, mpi, false, cmp.Or(keep, m.out()))
	if err != nil {
		return nil, err
	}
	truth.RunSeconds = found.Seconds
	return (&Result{Plant: p, MPI: mpi, Truth: truth}).judge(&found.Verdict), nil
}

// Real judges a real plant, and also runs it without its problem, if it has one.
func (m *Machine) Real(ctx context.Context, p *plant.Plant, mpi, keep string) (*Result, error) {
	r, err := m.Judge(ctx, p, mpi, keep)
	if err != nil {
		return nil, err
	}
	if k, err := plant.KindOf(p.Kind); err != nil || k.Class != plant.Problem {
		return r, err
	}
	for range mendedRuns {
		again, err := m.run(ctx, p, mpi, true, m.out())
		if err != nil {
			return nil, err
		}
		r.Mended = append(r.Mended, again.Seconds)
	}
	slices.Sort(r.Mended)
	r.Truth.LossSeconds = r.Truth.RunSeconds - r.Mended[mendedRuns/2]
	if len(r.Truth.Planted) == 1 {
		r.Truth.Planted[0].LossSeconds = r.Truth.LossSeconds
	}
	return r, nil
}
