//go:build mpi

package verify

import (
	"bytes"
	"debug/elf"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// A touch is something that is done to a process: steps of untouched.c, before MPI_Init or after
// it.
type touch struct {
	steps   []string
	shell   string // what is done before the program is executed, in a mount namespace of its own
	dies    bool   // it does not come to its end
	never   string // the MPI that cannot do it, or whose own processes make it random
	openmpi bool   // it is Open MPI that the short suite has it with
}

// requireUntouched runs untouched.c with and without the tracer. It requires that the program
// prints and ends the same, and that all its calls are recorded, or that one line says why not.
// What a program cannot do without the tracer is no case.
func requireUntouched(t *testing.T, program string, touched touch) (possible bool) {
	t.Helper()
	command := func() []string {
		list := append([]string{"env", "UCX_LOG_LEVEL=fatal", "OMPI_MCA_orte_tmpdir_base=/tmp", program}, touched.steps...)
		if i := slices.Index(list, "user"); i >= 0 {
			list[i] = ownUser()
		}
		if touched.shell != "" {
			list = append([]string{"unshare", "-m", "sh", "-c", touched.shell + `; exec "$@"`, "sh"}, list...)
		}
		return list
	}
	plain := shimtest.Run(t, nil, command()...)
	if plain.Code != 5 && !touched.dies {
		return false
	}
	tracer := tracerOfAll(t)
	traced := tracer.Run(t, command()...)
	require.Equal(t, plain.Signal, traced.Signal, traced.Stderr)
	require.Equal(t, plain.Code, traced.Code, traced.Stderr)
	require.Equal(t, settled(plain.Stdout), settled(traced.Stdout), traced.Stderr)
	if strings.Contains(plain.Stdout, "\n0 changes of errno") {
		require.Contains(t, traced.Stdout, "\n0 changes of errno")
	}
	ours := regexp.MustCompile(`(?m)^cairn: .*\n`)
	said := ours.FindAllString(traced.Stderr, -1)
	require.LessOrEqual(t, len(said), 1, traced.Stderr)
	if touched.dies { // MPI libraries print a backtrace
		numbers := regexp.MustCompile(`0x[0-9a-f]+|\d+ *`)
		require.Equal(t, numbers.ReplaceAllString(plain.Stderr, "n"), numbers.ReplaceAllString(ours.ReplaceAllString(traced.Stderr, ""), "n"))
	}
	if len(said) == 1 || touched.dies {
		return true
	}
	directories := tracer.Processes(t)
	require.Len(t, directories, 1, "it is neither traced, nor does it say so: %s", traced.Stderr)
	_, report, err := spool.Recover(directories[0])
	require.NoError(t, err)
	m := regexp.MustCompile(`(?m)^(\d+) calls$`).FindStringSubmatch(traced.Stdout)
	require.NotNil(t, m, traced.Stdout)
	calls, err := strconv.ParseUint(m[1], 10, 64)
	require.NoError(t, err)
	require.GreaterOrEqual(t, report.Calls+report.Lost, calls, "threads count none")
	return true
}

// tracerOfAll returns a tracer that other users can use.
func tracerOfAll(t *testing.T) *shimtest.Tracer {
	t.Helper()
	tracer := shimtest.NewTracer(t, map[string]any{"call_sites": "path"})
	require.NoError(t, os.Chmod(filepath.Dir(tracer.Dir), 0o755))
	return tracer
}

// ownUser is the step that makes the process that of a user who has no others.
func ownUser() string { return fmt.Sprint("user=", 100_000+rand.IntN(1<<30)) }

// settled is what is printed without UCX's log, which has times, and without the number of calls
// that changed errno: some of MPI's do where system calls fail, and how many depends on times.
func settled(stdout string) string {
	return regexp.MustCompile(`(?m)^(\d+ changes of errno|\[\d+\.\d+\].*)\n`).ReplaceAllString(stdout, "")
}

func compileUntouched(t *testing.T) map[string]string {
	t.Helper()
	return shimtest.CompileForAll(t, source("untouched.c"), "-rdynamic", "-pthread", "-ldl", "-lm")
}

// staticTLS makes libraries with thread-local variables in the static block, of which there is room
// for some that are loaded late, and returns the steps that load them.
func staticTLS(t *testing.T) (steps []string) {
	t.Helper()
	dir := t.TempDir()
	text := filepath.Join(dir, "block.c")
	require.NoError(t, os.WriteFile(text, []byte(`__thread char block[192] __attribute__((tls_model("initial-exec"))); char *touch(void) { return block; }`), 0o644))
	library := filepath.Join(dir, "block-0.so")
	out, err := exec.Command("gcc", "-shared", "-fPIC", "-o", library, text).CombinedOutput()
	require.NoError(t, err, "%s", out)
	content, err := os.ReadFile(library)
	require.NoError(t, err)
	for i := range 12 {
		path := filepath.Join(dir, fmt.Sprintf("block-%d.so", i))
		require.NoError(t, os.WriteFile(path, content, 0o755))
		steps = append(steps, "load="+path)
	}
	return steps
}

// touches are the kinds of things that are done to a process.
func touches(t *testing.T) map[string]touch {
	smallest := fmt.Sprint("small=", 16<<10) // PTHREAD_STACK_MIN
	all := []string{"as=0", "data=0", "stack=0", "nproc=0", "nofile=0", "memlock=0", "fsize=0", "core=0"}
	blocks, group := staticTLS(t), pidsCgroup(t, 16)
	awaitEmpty := "while [ $(cat " + group + "/pids.current) != 0 ]; do sleep 0.01; done; "
	with := func(steps ...any) (list []string) {
		for _, s := range steps {
			if more, ok := s.([]string); ok {
				list = append(list, more...)
			} else {
				list = append(list, s.(string))
			}
		}
		return list
	}
	return map[string]touch{
		"nothing":              {steps: with("observe", "fork", "work=100")},
		"handlers":             {steps: with("handled", "onstack", "observe")},
		"blocked signals":      {steps: with("block", "init", "blocked", "observe")},
		"timers":               {steps: with("ticks")},
		"crash":                {steps: with("crash"), dies: true, openmpi: true},
		"handler of crashes":   {steps: with("handler=11", "init", "crash"), dies: true},
		"with information":     {steps: with("handler-with-info=11", "init", "crash"), dies: true},
		"copied handler":       {steps: with("copy-handler=15", "raise=15"), dies: true, never: "mpich"},
		"limits after":         {steps: with("init", all, "work=100000")},
		"limits of a user":     {steps: with("user", "init", all, "work=100000")},
		"limits before":        {steps: with("user", "core=0", "fsize=16777216", "stack=262144", "nofile=64", "memlock=65536", "init", "files=30", "observe", "work=20000")},
		"few threads":          {steps: with("user", "nproc=16", "init", "threads=20", "work=20000"), never: "openmpi"},
		"few descriptors":      {steps: with("nofile=32", "init", "files=6", "observe", "work=100")},
		"some descriptors":     {steps: with("nofile=600", "init", "files=6", "observe", "work=100")},
		"locked memory":        {steps: with("init", "lock=3", "work=100000")},
		"little locked memory": {steps: with("user", "memlock=1048576", "lock=3", "init", "work=1000")},
		"smallest stacks":      {steps: with("init", smallest), openmpi: true},
		"later module":         {steps: with("init", "work=100", blocks[0], smallest)},
		"static TLS":           {steps: with("init", "work=1000", blocks)},
		"few processes":        {steps: with("init", "threads=20", "work=1000"), shell: awaitEmpty + "echo $$ >" + group + "/cgroup.procs", never: "openmpi"},
		"no /proc":             {steps: with("init", "work=1000", smallest), shell: "mount -t tmpfs none /proc", never: "mpich"},
		"no /sys":              {steps: with("init", "work=1000"), shell: "mount -t tmpfs none /sys"},
		"read-only memory":     {steps: with("init", "work=1000"), shell: "mount -t tmpfs -o ro none /dev/shm", never: "mpich"},
		"no executable memory": {steps: with("init", "work=1000"), shell: "mount -t tmpfs -o noexec none /dev/shm"},
		"read-only disk":       {steps: with("init", "work=1000"), shell: "mount --bind /tmp /tmp; mount -o remount,bind,ro /tmp", never: "openmpi"},
	}
}

// pidsCgroup makes a cgroup that may have this many processes and threads.
func pidsCgroup(t *testing.T, most int) string {
	t.Helper()
	for _, root := range []string{"/sys/fs/cgroup/pids", "/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		dir, err := os.MkdirTemp(root, "cairn-test-")
		if err != nil {
			continue
		}
		t.Cleanup(func() {
			require.Eventually(t, func() bool { return os.Remove(dir) == nil }, 10*time.Second, 10*time.Millisecond)
		})
		if os.WriteFile(filepath.Join(dir, "pids.max"), []byte(strconv.Itoa(most)), 0o644) == nil {
			return dir
		}
	}
	t.Fatal("no control group for processes can be made below /sys/fs/cgroup: run this test as root, where cgroups are writable")
	return ""
}

// Whatever is done to a process, it behaves as it does without the tracer.
func TestUntouched(t *testing.T) {
	programs := compileUntouched(t)
	list := touches(t)
	for _, name := range slices.Sorted(maps.Keys(list)) {
		touched := list[name]
		for _, implementation := range shimtest.Implementations {
			openmpi := touched.openmpi || touched.never == "mpich" // whose start takes a second
			if implementation == touched.never || testing.Short() && openmpi != (implementation == "openmpi") {
				continue
			}
			t.Run(implementation+"/"+name, func(t *testing.T) {
				require.True(t, requireUntouched(t, programs[implementation], touched), "it is not possible without the tracer either")
			})
		}
	}
}

// Each signal that nobody handles, sent to the process and to a thread, does what it does without
// the tracer.
func TestUnhandledSignals(t *testing.T) {
	programs := compileUntouched(t)
	signals := rand.Perm(64)
	if testing.Short() {
		signals = signals[:4]
	}
	for i, s := range signals {
		s++
		if slices.Contains([]int{19, 20, 21, 22}, s) { // it would stop until somebody lets it continue
			continue
		}
		for _, implementation := range shimtest.ImplementationsOf(i) {
			to := []string{"raise", "raise-to-thread"}[i/2%2]
			t.Run(fmt.Sprintf("%s/%s %d", implementation, to, s), func(t *testing.T) {
				requireUntouched(t, programs[implementation], touch{dies: true, steps: []string{fmt.Sprintf("%s=%d", to, s)}})
			})
		}
	}
}

// systemCalls has the numbers of all system calls but those that no program can do without: exit,
// exit_group, write, writev, rt_sigreturn, and futex, without which libc ends the process.
func systemCalls() (numbers []int) {
	for n := range 451 {
		if !slices.Contains([]int{1, 15, 20, 60, 202, 231}, n) {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// A sandbox may refuse any system calls, from the beginning or from any moment on.
func TestRefusedSystemCalls(t *testing.T) {
	seed := uint64(1)
	if !testing.Short() {
		seed = uint64(time.Now().UnixNano())
	}
	if s := os.Getenv("CAIRN_TEST_SEED"); s != "" {
		var err error
		seed, err = strconv.ParseUint(s, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("CAIRN_TEST_SEED=%d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	programs := compileUntouched(t)
	// those that the tracer makes, one at a time, and random sets
	sets := [][]int{{2}, {257}, {9}, {11}, {28}, {10}, {56}, {435}, {319}, {41}, {42}, {46}, {310}, {72}, {5}, {262}, {89}, {17}, {18}, {82}, {83}, {90}, {3}, {318}, {273}, {302}, {217}}
	random.Shuffle(len(sets), func(i, j int) { sets[i], sets[j] = sets[j], sets[i] })
	trials := len(sets)
	if testing.Short() {
		sets, trials = sets[:3], 3
	}
	all := systemCalls()
	for range trials {
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		sets = append(sets, slices.Clone(all[:1+random.IntN(55)]))
	}
	possible := 0
	for i, set := range sets {
		refuse := []string{"refuse-EPERM=", "refuse-ENOSYS="}[random.IntN(2)] + strings.Trim(strings.ReplaceAll(fmt.Sprint(set), " ", ","), "[]")
		moment := random.IntN(3)
		steps := append([]string{"alarm=30"}, [][]string{ // MPI may wait for ever for what is refused
			{refuse, "init", "work=2000"},
			{"init", refuse, "work=50000"},
			{"init", "work=10", refuse, "work=2000", fmt.Sprint("small=", 16<<10)},
		}[moment]...)
		for _, implementation := range shimtest.ImplementationsOf(i) {
			t.Run(fmt.Sprintf("%s/%d/%s", implementation, moment, refuse), func(t *testing.T) {
				if requireUntouched(t, programs[implementation], touch{steps: steps}) {
					possible++
				}
			})
		}
	}
	require.Positive(t, possible)
}

// least returns the smallest limit, in units, below high under which the program comes to its end.
func least(t *testing.T, environment []string, program, limit string, unit, high int) int {
	t.Helper()
	low, possible := 0, high
	for possible-low > 1 {
		middle := (low + possible) / 2
		r := shimtest.Run(t, environment, "env", "OMPI_MCA_orte_tmpdir_base=/tmp", program, ownUser(), fmt.Sprintf("%s=%d", limit, middle*unit), "init", "work=20000")
		if r.Code == 5 {
			possible = middle
		} else {
			low = middle
		}
	}
	require.Less(t, possible, high)
	return possible
}

// The tracer's share of what a limit leaves to a process: the address space is the ring of record
// buffers, and what is mapped of the library's file is there before the program sets the limit. The
// smallest limit of the address space depends on when threads of MPI get an arena of malloc, 64 MiB
// of it: 93 to 113 MiB of Open MPI's for one tracer, on two machines.
func TestShareOfLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("in make test-all: it runs a program 200 times")
	}
	programs := compileUntouched(t)
	for _, limit := range []struct {
		name             string
		unit, high, most int
	}{
		{"as", 1 << 20, 1024, 32},
		{"data", 1 << 18, 1024, 16},
		{"stack", 1 << 12, 1024, 8},
		{"nofile", 1, 256, 2},
		{"nproc", 1, 64, 0},
	} {
		for _, implementation := range shimtest.Implementations {
			t.Run(implementation+"/"+limit.name, func(t *testing.T) {
				tracer := tracerOfAll(t)
				plain := least(t, nil, programs[implementation], limit.name, limit.unit, limit.high)
				traced := least(t, []string{"LD_PRELOAD=" + tracer.Preload()}, programs[implementation], limit.name, limit.unit, limit.high)
				require.NotEmpty(t, tracer.Processes(t))
				t.Logf("%d and %d units", plain, traced)
				require.LessOrEqual(t, traced, plain+limit.most)
			})
		}
	}
}

// What the shim has in each thread's static block is small: smallest stacks have to hold it.
func TestStaticTLSOfTheShim(t *testing.T) {
	for _, library := range shimtest.Libraries[:2] {
		content, err := os.ReadFile(filepath.Join(shimtest.Root(), "lib", library))
		require.NoError(t, err)
		file, err := elf.NewFile(bytes.NewReader(content))
		require.NoError(t, err)
		for _, p := range file.Progs {
			if p.Type == elf.PT_TLS {
				require.LessOrEqual(t, p.Memsz, uint64(1200), library)
			}
		}
	}
}
