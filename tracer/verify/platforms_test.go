//go:build mpi

package verify

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/shipper"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// A platform is a C library, and an architecture.
type platform struct {
	name, compiler string
	library        func(t *testing.T, name string) string // the tracer's library of this name
	// what runs a program of the platform, and the variable that has what to preload
	emulator []string
	preload  string
}

func platforms() []platform {
	here := func(_ *testing.T, name string) string { return filepath.Join(shimtest.Root(), "lib", name) }
	arm64 := func(t *testing.T, name string) string { return filepath.Join(shimtest.Variant(t, "arm64"), name) }
	return []platform{
		{"glibc", "gcc", here, nil, "LD_PRELOAD="},
		{"musl", "musl-gcc", here, nil, "LD_PRELOAD="},
		{"arm64", "aarch64-linux-gnu-gcc", arm64, []string{"qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"}, "QEMU_SET_ENV=LD_PRELOAD="},
		// the emulator's large pages confuse the dynamic linker if there is more to load
		{"arm64 with pages of 64 KiB", "aarch64-linux-gnu-gcc", arm64,
			[]string{"qemu-aarch64", "-p", "65536", "-L", "/usr/aarch64-linux-gnu"}, "QEMU_SET_ENV=LD_PRELOAD="},
	}
}

// headers are the flags of MPICH's headers, which testdata/fakempi.c needs. They are the same for
// all platforms.
func headers(t *testing.T) (flags []string) {
	t.Helper()
	show, err := exec.Command("mpicc.mpich", "-show").Output()
	require.NoError(t, err)
	for _, f := range strings.Fields(string(show)) {
		if strings.HasPrefix(f, "-I") {
			flags = append(flags, f)
		}
	}
	require.NotEmpty(t, flags)
	return flags
}

// build compiles a program of testdata, and an MPI library of one process. musl-gcc leaves out the
// table of frames (--eh-frame-hdr) that compilers of systems with musl write.
func (p platform) build(t *testing.T, program string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	compile := func(out string, arguments ...string) string {
		out = filepath.Join(dir, out)
		arguments = append(append([]string{"-g", "-Wall", "-Wextra", "-Werror", "-pthread", "-Wl,--eh-frame-hdr", "-o", out}, headers(t)...), arguments...)
		text, err := exec.Command(p.compiler, arguments...).CombinedOutput()
		require.NoError(t, err, string(text))
		return out
	}
	library := compile("libmpi.so", "-O1", "-fPIC", "-shared", "-Wl,-soname,libmpi.so", source("fakempi.c"))
	return compile(program, append(flags, source(program+".c"), library, "-Wl,-rpath,"+dir)...)
}

// trace runs a program under the tracer, where it must do what it does without it.
func (p platform) trace(t *testing.T, config map[string]any, program ...string) *shimtest.Tracer {
	t.Helper()
	command := slices.Concat(p.emulator, program)
	plain := shimtest.Run(t, nil, command...)
	require.Equal(t, 0, plain.Code, plain.Stdout+plain.Stderr)
	tracer := shimtest.NewTracer(t, config)
	lib := filepath.Join(tracer.Dir, "lib")
	require.NoError(t, os.Remove(lib)) // a link to those of this machine
	require.NoError(t, os.Mkdir(lib, 0o755))
	for _, name := range []string{"libcairn-mpich.so", "libcairn-reference-mpich.so", "libcairn-allocations.so"} {
		require.NoError(t, os.Symlink(p.library(t, name), filepath.Join(lib, name)))
	}
	preload := p.preload + filepath.Join(lib, "libcairn-mpich.so")
	if config["pointers"] == true {
		preload += ":" + filepath.Join(lib, "libcairn-allocations.so")
	}
	require.Equal(t, plain, tracer.RunWith(t, []string{preload}, command...))
	return tracer
}

// verified compares a process's trace with its reference log.
func verified(t *testing.T, tracer *shimtest.Tracer) uint64 {
	t.Helper()
	directories := tracer.Processes(t)
	require.Len(t, directories, 1)
	result, err := Compare(open(t, directories), directories)
	require.NoError(t, err)
	for _, d := range result.Disagreements {
		t.Error(d)
	}
	return result.Calls
}

// calls counts the calls of a trace.
func calls(t *testing.T, r *trace.Reader) (n int) {
	t.Helper()
	for i := range r.Threads().Len() {
		cursor, err := r.Cursor(0, r.Threads().At(i).Thread)
		require.NoError(t, err)
		for cursor.Next() {
			n++
		}
		require.NoError(t, cursor.Err())
	}
	return n
}

// On each platform six threads exercise everything that the shim's threads share, with call paths
// and pointers. The calls agree with the reference log.
func TestPlatforms(t *testing.T) {
	t.Parallel()
	for _, p := range platforms()[1:3] {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			program := p.build(t, "stress", "-O1")
			for _, config := range []map[string]any{
				{"call_sites": "caller", "verify": true, "timing": "lossy 5"},
				{"call_sites": "path", "pointers": true, "verify": true},
			} {
				tracer := p.trace(t, config, program, "20")
				require.Greater(t, verified(t, tracer), uint64(5000))
			}
		})
	}
}

// Where the ring of buffers does not fit, for example because files may have 1 MB only, each buffer
// has a file, whatever the size of a page.
func TestPlatformsWithoutRing(t *testing.T) {
	t.Parallel()
	for _, p := range platforms() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			p.emulator = append([]string{"bash", "-c", `trap "" XFSZ; ulimit -f 1000; exec "$@"`, "-"}, p.emulator...)
			tracer := p.trace(t, map[string]any{}, p.build(t, "stress", "-O1"), "5")
			directories := tracer.Processes(t)
			require.Len(t, directories, 1)
			require.FileExists(t, filepath.Join(directories[0], "once-0.seg"))
			require.Equal(t, 1438, calls(t, open(t, directories)))
		})
	}
}

// lines lists the call paths of all calls that send, as lines of frames.c, by tag.
func lines(t *testing.T, c *trace.Content) map[int][]string {
	t.Helper()
	paths := map[int][]string{}
	for i := range c.Threads.Len() {
		cursor, err := c.Cursor(0, c.Threads.At(i).Thread)
		require.NoError(t, err)
		for cursor.Next() {
			e := cursor.Event()
			if e.Function.Name != "MPI_Send" && e.Function.Name != "MPI_Sendrecv" {
				continue
			}
			var path []string
			for site := range e.CallPath {
				path = append(path, strconv.Itoa(site.Line))
			}
			tag := int(e.In[4].Int)
			paths[tag] = append(paths[tag], strings.Join(path, "<"))
		}
		require.NoError(t, cursor.Err())
	}
	return paths
}

// Call paths are found in frames of all kinds. A function that the C library calls is where a path
// ends with musl, which does not describe its frames. Fortran's calls have their callers and
// statuses.
func TestFramesOnPlatforms(t *testing.T) {
	t.Parallel()
	for _, p := range platforms()[:3] {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			for _, flags := range [][]string{{"-O2", "-fomit-frame-pointer", "-fno-optimize-sibling-calls"}, {"-O0"}} {
				program := p.build(t, "frames", flags...)
				verified(t, p.trace(t, map[string]any{"call_sites": "path", "verify": true}, program))
				tracer := p.trace(t, map[string]any{"call_sites": "path"}, program)
				runs, problems, err := shipper.RunLocal(t.Context(), shipper.LocalOptions{Spool: filepath.Join(tracer.Dir, "spool"), Out: t.TempDir()})
				require.NoError(t, err)
				require.Empty(t, problems)
				got := lines(t, runs[0].Content)
				require.Len(t, got[60], 1)
				if p.name == "musl" {
					require.Equal(t, "101<601", got[60][0])
				} else {
					require.Regexp(t, `^101<601<.+<1010$`, got[60][0]) // glibc may have symbols
				}
				delete(got, 60)
				require.Equal(t, map[int][]string{
					10: {"101<1004"},
					20: {"101<204<202<202<202<1005"},
					30: {"101<303<1006"},
					31: {"101<303<1007"},
					40: {"101<405<1008"},
					50: {"101<503<1009"},
					70: {"101<704<1011"},
					80: {"101<801"},
					90: {"902<1014"},
					4:  {"904<1014"},
				}, got, flags)
			}
		})
	}
}
