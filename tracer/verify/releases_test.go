//go:build mpi

package verify

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// A root is a Debian release with both MPIs, in a folder.
type root string

// newRoot unpacks the packages of a release. Their scripts are not executed.
func newRoot(t *testing.T, suite string) root {
	t.Helper()
	dir := filepath.Join(t.TempDir(), suite)
	out, err := exec.Command("mmdebstrap", "--variant=extract", "--include=libc6-dev,libc-bin,libmpich-dev,mpich,libopenmpi-dev,openmpi-bin", suite, dir).CombinedOutput()
	require.NoError(t, err, string(out))
	for _, name := range []string{"lib", "lib64"} { // newer releases have links, which a script makes
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			require.NoError(t, os.Symlink("usr/"+name, filepath.Join(dir, name)))
		}
	}
	// gcc must find the linker below the root
	linker := filepath.Join(dir, "lib64/ld-linux-x86-64.so.2")
	if target, err := os.Readlink(linker); err == nil && filepath.IsAbs(target) {
		require.NoError(t, os.Remove(linker))
		require.NoError(t, os.Symlink(".."+target, linker))
	}
	hosts, err := os.ReadFile("/etc/hosts")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "etc/hosts"), hosts, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "etc/nsswitch.conf"), []byte("hosts: files\n"), 0o644))
	return root(dir)
}

// compile compiles an example with this machine's compiler and the release's C library and MPI.
func (r root) compile(t *testing.T, implementation, name string) string {
	t.Helper()
	lib := filepath.Join(string(r), "usr/lib/x86_64-linux-gnu")
	include := map[string]string{"mpich": filepath.Join(string(r), "usr/include/x86_64-linux-gnu/mpich"), "openmpi": filepath.Join(lib, "openmpi/include")}
	library := map[string]string{"mpich": "-l:libmpich.so.12", "openmpi": "-l:libmpi.so.40"}
	out := filepath.Join(t.TempDir(), name)
	text, err := exec.Command("gcc", "--sysroot="+string(r), "-g", "-O1", "-w", "-o", out, "-I"+include[implementation],
		filepath.Join(shimtest.Root(), "examples", name+".c"), "-L"+lib, library[implementation], "-lm",
		"-Wl,-rpath-link,"+lib+":"+filepath.Join(string(r), "lib/x86_64-linux-gnu")).CombinedOutput()
	require.NoError(t, err, string(text))
	return out
}

// inside returns the command that runs a command in the root, where /tmp is this machine's.
func (r root) inside(command ...string) []string {
	const enter = `cd "$0" && mkdir -p proc dev sys tmp && for d in proc dev sys tmp; do mount --rbind /$d $d; done && exec chroot . "$@"`
	return append([]string{"unshare", "-m", "--propagation", "private", "sh", "-c", enter, string(r)}, command...)
}

// install copies the tracer's libraries to where they can be seen in a root, and returns what to
// preload.
func install(t *testing.T, tracer *shimtest.Tracer) string {
	t.Helper()
	lib := filepath.Join(tracer.Dir, "lib")
	require.NoError(t, os.Remove(lib)) // a link to this machine's
	require.NoError(t, os.CopyFS(lib, os.DirFS(filepath.Join(shimtest.Root(), "lib"))))
	return tracer.Preload() + ":" + filepath.Join(lib, "libcairn-allocations.so")
}

// The oldest release that Debian's mirrors have, with glibc 2.31, in which threads and the dynamic
// loader are libraries of their own, and the newest stable one: a program that is compiled for it
// runs there under each of its MPIs, and the calls agree with the reference log. A program without
// MPI notices nothing.
func TestReleases(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("in make test-all: it unpacks two Debian releases")
	}
	for _, suite := range []string{"bullseye", "trixie"} {
		t.Run(suite, func(t *testing.T) {
			t.Parallel()
			r := newRoot(t, suite)
			for _, implementation := range shimtest.Implementations {
				program := r.compile(t, implementation, "stencil")
				tracer := shimtest.NewTracer(t, map[string]any{"call_sites": "path", "pointers": true, "verify": true})
				preload := install(t, tracer)
				launch := shimtest.Launch(implementation, 4, "")
				launch = launch[:len(launch)-1]
				if implementation == "mpich" {
					launch = append(launch, "-genv", "LD_PRELOAD", preload)
				} else {
					launch = append(launch, "-x", "LD_PRELOAD="+preload)
				}
				// some components have libraries that are found by scripts of packages
				quiet := "OMPI_MCA_mca_base_component_show_load_errors=0"
				result := tracer.RunWith(t, []string{quiet}, r.inside(append(launch, program)...)...)
				require.Equal(t, 0, result.Code, result.Stdout+result.Stderr)
				require.NotContains(t, result.Stderr, "cairn")
				require.NotContains(t, result.Stderr, "ld.so")
				directories := tracer.Processes(t)
				require.Len(t, directories, 4)
				compared, err := Compare(open(t, directories), directories)
				require.NoError(t, err)
				for _, d := range compared.Disagreements {
					t.Error(d)
				}
				require.NotZero(t, compared.Calls)

				plain := shimtest.Run(t, nil, r.inside("/usr/bin/getconf", "GNU_LIBC_VERSION")...)
				linker := []string{"/lib64/ld-linux-x86-64.so.2", "--preload", strings.ReplaceAll(preload, ":", " ")}
				traced := shimtest.Run(t, nil, r.inside(slices.Concat(linker, []string{"/usr/bin/getconf", "GNU_LIBC_VERSION"})...)...)
				require.Equal(t, plain, traced)
				require.Equal(t, 0, plain.Code, plain.Stderr)
			}
		})
	}
}
