//go:build mpi

package shimtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/shipper"
	"github.com/cairn-mpi/cairn/trace"
)

// tracedWithAllocations runs the program with the library that tracks allocations preloaded, too.
func tracedWithAllocations(t *testing.T, implementation string, ranks int, program string) *trace.Content {
	t.Helper()
	tracer := NewTracer(t, map[string]any{"call_sites": "caller", "pointers": true})
	preload := tracer.Preload() + ":" + filepath.Join(tracer.Dir, "lib", "libcairn-allocations.so")
	result := Run(t, []string{"LD_PRELOAD=" + preload}, Launch(implementation, ranks, program)...)
	require.Zero(t, result.Code, result.Stderr)
	runs, problems, err := shipper.RunLocal(t.Context(), shipper.LocalOptions{Spool: filepath.Join(tracer.Dir, "spool"), Out: t.TempDir()})
	require.NoError(t, err)
	require.Empty(t, problems)
	require.Len(t, runs, 1)
	return runs[0].Content
}

func TestPointers(t *testing.T) {
	t.Parallel()
	for _, implementation := range Implementations {
		t.Run(implementation, func(t *testing.T) {
			dir := t.TempDir()
			source := filepath.Join(Root(), "tracer", "shim", "testdata")
			cuda := filepath.Join(dir, "libcudart.so")
			b, err := exec.Command("gcc", "-shared", "-fPIC", "-o", cuda, filepath.Join(source, "cuda.c")).CombinedOutput()
			require.NoError(t, err, string(b))
			program := filepath.Join(dir, "pointers")
			b, err = exec.Command("mpicxx."+implementation, "-g", "-O1", "-w", "-pthread", "-o", program,
				filepath.Join(source, "pointers.cc"), cuda, "-Wl,-rpath,"+dir).CombinedOutput()
			require.NoError(t, err, string(b))
			c := tracedWithAllocations(t, implementation, 2, program)

			var want []string
			for rank := range 2 {
				got := map[int64][]string{}
				row := map[int64]int64{}
				cursor, err := c.Cursor(rank, 0)
				require.NoError(t, err)
				var all []string
				for cursor.Next() {
					e := cursor.Event()
					if e.Function.Name != "MPI_Send" {
						continue
					}
					v, tag := e.In[0], e.In[4].Int
					text := "nothing"
					if v.Form == trace.Pointer && v.Int > 0 {
						s := c.Allocations[v.Int-1]
						text = fmt.Sprintf("%s %d/%d", s.Kind, v.Offset, s.Size)
						if s.Number > 0 {
							text += fmt.Sprintf(" on %d", s.Number)
						}
						if s.Kind == trace.StackAllocation || s.Kind == trace.StaticAllocation {
							text = s.Kind.String()
						}
						row[tag] = v.Int
					}
					got[tag] = append(got[tag], text)
					all = append(all, fmt.Sprint(tag, v.Int, v.Offset))
				}
				require.NoError(t, cursor.Err())
				require.Equal(t, map[int64][]string{
					1: {"static"}, 2: {"stack"}, 3: {"stack"},
					10: {"heap 0/1000", "heap 1/1000", "heap 2/1000", "heap 3/1000", "heap 4/1000"},
					20: {"heap 50000/100000"}, 21: {"heap 99999/100000"}, 22: {"heap 524288/1048576"},
					30: {"heap 0/10000"}, 31: {"heap 76/77"}, 32: {"heap 0/100"},
					40: {"mapped 4097/65536"}, 41: {"mapped 1/32768"},
					50: {"device 100/5000 on 1"}, 51: {"managed 0/6000 on 1"}, 52: {"pinned 1/7000 on 1"}, 53: {"device 2/8000 on 1"},
					54: {"device 0/5000 on 1"},
					60: {"nothing"},
				}, got)
				require.Equal(t, row[2], row[3], "one stack")
				require.NotEqual(t, row[20], row[21], "two buffers")
				if rank == 0 {
					want = all
				} else {
					require.Equal(t, want, all, "ranks that do the same have the same names")
				}
			}
		})
	}
}

// Programs without MPI run as before with the library, even if they allocate before main.
func TestAllocationsElsewhere(t *testing.T) {
	t.Parallel()
	library := filepath.Join(Root(), "lib", "libcairn-allocations.so")
	for _, command := range [][]string{
		{"ls", "/"}, {"bash", "-c", "for i in 1 2 3; do echo $i | cat; done"},
		{"python3", "-c", "import threading,os\nts=[threading.Thread(target=lambda:[bytearray(i) for i in range(3000)]) for _ in range(4)]\n[t.start() for t in ts]\n[t.join() for t in ts]\nif os.fork()==0:\n  os._exit(len([0]*1000)&0)\nprint(os.wait()[1])"},
	} {
		without, err := exec.Command(command[0], command[1:]...).Output()
		require.NoError(t, err)
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Env = append(os.Environ(), "LD_PRELOAD="+library)
		with, err := cmd.CombinedOutput()
		require.NoError(t, err, string(with))
		require.Equal(t, string(without), string(with))
	}
}

// On arm64 an address is recorded without its tag; a constant of MPI stays what it is.
func TestTaggedAddresses(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "untagged")
	b, err := exec.Command("aarch64-linux-gnu-gcc", "-static", "-o", program,
		filepath.Join(Root(), "tracer", "shim", "testdata", "untagged.c")).CombinedOutput()
	require.NoError(t, err, string(b))
	b, err = exec.Command("qemu-aarch64", program).CombinedOutput()
	require.NoError(t, err, string(b))
	require.Equal(t, "0 7fff12345678 7fff12345678 7fff12345678 ffffffffffffffff fffffffffffffffe ", string(b))
}
