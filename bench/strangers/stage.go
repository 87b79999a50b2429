package strangers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/apps/catalog"
	"github.com/cairn-mpi/cairn/test/network"
)

// A stage is where one run takes place.
type stage struct {
	job    Job
	id     string // by which its processes are found
	out    string // folder of the trace and the report
	start  *exec.Cmd
	said   bytes.Buffer // by all of it
	pinned bool
	ends   []func() // what has to be ended, the last one first
}

func (s *stage) close() {
	for i := len(s.ends) - 1; i >= 0; i-- {
		s.ends[i]()
	}
}

// stage prepares a run.
func (m *Machine) stage(ctx context.Context, r *Record, f *Fault, p *catalog.Program, command *catalog.Command) (s *stage, err error) {
	m.runs++
	s = &stage{
		id: fmt.Sprintf("%d-%d", os.Getpid(), m.runs), out: filepath.Join(m.Dir, "out"),
		job: Job{Dir: filepath.Join(m.Dir, "program")}, pinned: r.Class == Evidence,
	}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if err := s.place(ctx, r, p); err != nil {
		return nil, err
	}
	if r.Class == Place {
		return s, m.replayed(ctx, s, r, p, command)
	}
	words := append([]string{m.cairn(), "run", "--force", "-o", s.out, "--"}, catalog.Launcher(r.MPI, r.Ranks)...)
	if f.Prepare != nil {
		end, err := f.Prepare(&s.job, r.Ranks)
		if err != nil {
			return nil, err
		}
		s.ends = append(s.ends, end)
	}
	if s.job.groups != nil {
		words = append(words, s.job.groups.wrapper()...)
	}
	line := strings.Join(append(words, command.Line), " ")
	s.start = inGroup(ctx, p.Shell(s.job.Dir, "exec "+line+" </dev/null"))
	s.start.Env = append(s.start.Env, word+"="+s.id)
	if r.Class == Crowd {
		s.start.Env = append(s.start.Env, m.yield(), "OMPI_MCA_mpi_yield_when_idle=1")
	}
	return s, nil
}

func (m *Machine) cairn() string { return filepath.Join(m.Root, "bin", "cairn") }

// yield is the environment of ranks that leave their core to others while they wait.
func (m *Machine) yield() string { return "LD_PRELOAD=" + filepath.Join(m.Root, "out", "yield.so") }

// place makes the program's folder, with its inputs. For the fault full-disk it is a small file
// system.
func (s *stage) place(ctx context.Context, r *Record, p *catalog.Program) error {
	from := s.job.Dir
	if r.Fault == "full-disk" {
		from += "-inputs"
	}
	longer := r.Class != Place // which scales computation, but not messages
	err := p.Place(from, r.MPI, longer, func(c *exec.Cmd) error {
		text, err := inGroup(ctx, c).CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, lastLine(text))
		}
		return err
	})
	if err != nil || from == s.job.Dir {
		return err
	}
	if err := os.MkdirAll(s.job.Dir, 0o755); err != nil {
		return err
	}
	if err := mountSmall(s.job.Dir); err != nil {
		return err
	}
	s.ends = append(s.ends, func() { _ = unix.Unmount(s.job.Dir, unix.MNT_DETACH) })
	return os.CopyFS(s.job.Dir, os.DirFS(from))
}

func lastLine(text []byte) string {
	text = bytes.TrimSpace(text)
	return string(text[bytes.LastIndexByte(text, '\n')+1:])
}

// run starts the program, and the fault when it is time.
func (s *stage) run(ctx context.Context, r *Record, f *Fault, begin time.Duration, strength float64) error {
	s.start.Stdout, s.start.Stderr = &s.said, &s.said
	if err := s.start.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	var failed error
	go func() {
		failed = s.start.Wait()
		close(ended)
	}()
	injected := s.inject(ctx, r, f, begin, strength, ended)
	if injected != nil {
		_ = s.start.Cancel()
	}
	<-ended
	r.Exit = s.start.ProcessState.ExitCode()
	if ctx.Err() != nil {
		return fmt.Errorf("%s was ended after %v", r.Program, longest)
	}
	var exit *exec.ExitError
	if failed != nil && !errors.As(failed, &exit) {
		return failed
	}
	if injected != nil {
		return fmt.Errorf("%w: %s", injected, lastLine(s.said.Bytes()))
	}
	return nil
}

// inject waits for the ranks, and lets the fault work from its begin to the end of the run. It
// measures how long ranks wait for a CPU meanwhile: at the start others need CPUs, too.
func (s *stage) inject(ctx context.Context, r *Record, f *Fault, begin time.Duration, strength float64, ended <-chan struct{}) (err error) {
	if s.job.PIDs, err = findRanks(ctx, s.id, r.Ranks, ended); err != nil {
		return err
	}
	found := time.Now()
	if s.pinned {
		if err := s.job.pin(s.id, r.Rank); err != nil {
			return err
		}
	}
	gone := s.ranksEnded(ended)
	var end func() float64
	if pause(begin, gone) {
		if end, err = f.Begin(&s.job, f.Touched(r.Rank), strength); err != nil {
			return err
		}
		r.Delayed = s.job.watch(gone)
		r.Effect, r.Region = end(), s.job.region
	} else {
		err = errEnded
	}
	r.Lifetime = time.Since(found).Seconds()
	return err
}

// ranksEnded returns a channel that is closed as soon as no rank is left. The analysis of the run
// follows, in which no fault works.
func (s *stage) ranksEnded(ended <-chan struct{}) <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for pause(20*time.Millisecond, ended) {
			left := 0
			for _, pid := range s.job.PIDs {
				if running(pid) {
					left++
				}
			}
			if left == 0 {
				return
			}
		}
	}()
	return gone
}

// The re-executions of class B take about replaySeconds: computation is scaled, but to no more than
// mostScale of what it was.
const (
	replaySeconds = 5
	mostScale     = 10
)

// replayed prepares the re-execution of a program's trace on the hosts of a network.
func (m *Machine) replayed(ctx context.Context, s *stage, r *Record, p *catalog.Program, command *catalog.Command) error {
	trace, seconds, err := m.trace(ctx, s, r, p, command)
	if err != nil {
		return err
	}
	n, err := network.New(placeHosts, network.Link{})
	if err != nil {
		return err
	}
	s.job.network = n
	s.ends = append(s.ends, n.Close)
	agent, err := n.Agent(m.Dir)
	if err != nil {
		return err
	}
	slots := filepath.Join(m.Dir, "slots")
	if err := s.shareSlots(slots); err != nil {
		return err
	}
	s.job.replayer = filepath.Join(m.Root, "lib", "cairn-replay-openmpi")
	var addresses []string
	for _, h := range n.Hosts {
		addresses = append(addresses, fmt.Sprintf("%v:%d", h.Address, perHost))
	}
	scale := strconv.FormatFloat(min(mostScale, replaySeconds/seconds), 'g', 4, 64)
	words := n.Hosts[0].Command(
		m.cairn(), "replay", trace, "--compute", "sleep", "--compute-scale", scale, "--mpi", "openmpi", "--",
		"mpirun.openmpi", "-np", strconv.Itoa(r.Ranks), "--host", strings.Join(addresses, ","), "--bind-to", "none",
		"--mca", "plm_rsh_agent", agent, "--mca", "oob_tcp_if_include", network.Device,
		"--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", network.Device, "--mca", "mpi_yield_when_idle", "1",
	)
	s.start = inGroup(ctx, exec.Command(m.cairn(), append([]string{"run", "--force", "-o", s.out, "--"}, words...)...))
	s.start.Dir, s.start.Env = s.job.Dir, append(p.Environment(), word+"="+s.id, "STRETCH_FILE="+slots,
		"CAIRN_TEST_PAUSE_US=100", m.yield()+":"+filepath.Join(m.Root, "out", "stretch.so"))
	return nil
}

// trace returns the trace of a program with the ranks of class B, and how long that run took. It is
// recorded once.
func (m *Machine) trace(ctx context.Context, s *stage, r *Record, p *catalog.Program, command *catalog.Command) (path string, seconds float64, err error) {
	out := filepath.Join(m.Traces, fmt.Sprintf("%s-%s-%d", r.Program, r.MPI, r.Ranks))
	path = filepath.Join(out, "trace.cairn")
	if _, err := os.Stat(path); err != nil {
		line := strings.Join(append([]string{m.cairn(), "run", "--force", "-o", out, "--"},
			catalog.Launcher(r.MPI, r.Ranks)...), " ") + " " + command.Line
		c := inGroup(ctx, p.Shell(s.job.Dir, "exec "+line+" </dev/null"))
		c.Env = append(c.Env, m.yield(), "OMPI_MCA_mpi_yield_when_idle=1", "CAIRN_TEST_PAUSE_US=50")
		if text, err := c.CombinedOutput(); err != nil {
			r.Impossible = fmt.Sprintf("%s with %d ranks: %v: %s", r.Program, r.Ranks, err, lastLine(text))
			return "", 0, errors.Join(errors.New(r.Impossible), os.RemoveAll(out))
		}
	}
	text, err := reportIn(out)
	if err != nil {
		return "", 0, err
	}
	recorded, err := parseReport(text)
	return path, recorded.Seconds, err
}
