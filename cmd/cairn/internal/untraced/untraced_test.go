package untraced

import (
	"debug/elf"
	"encoding/binary"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// writeExecutable writes an ELF file with a dynamic linker ("": none) and nothing else.
func writeExecutable(t *testing.T, class elf.Class, machine elf.Machine, loader string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	ident := [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(class), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)}
	number, name := uint16(0), loader
	if loader != "" {
		number, name = 1, loader+"\x00"
	}
	write := func(v any) { require.NoError(t, binary.Write(f, binary.LittleEndian, v)) }
	if class == elf.ELFCLASS32 {
		write(elf.Header32{Ident: ident, Type: uint16(elf.ET_DYN), Machine: uint16(machine), Version: 1, Phoff: 52, Ehsize: 52, Phentsize: 32, Phnum: number})
		write(elf.Prog32{Type: uint32(elf.PT_INTERP), Off: 84, Filesz: uint32(len(name))})
	} else {
		write(elf.Header64{Ident: ident, Type: uint16(elf.ET_DYN), Machine: uint16(machine), Version: 1, Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: number})
		write(elf.Prog64{Type: uint32(elf.PT_INTERP), Off: 120, Filesz: uint64(len(name))})
	}
	_, err = f.WriteString(name)
	require.NoError(t, err)
	require.NoError(t, f.Chmod(0o755))
	return path
}

func TestInspectedFiles(t *testing.T) {
	own, other := elf.EM_X86_64, elf.EM_AARCH64
	if ownMachine == other {
		own, other = other, own
	}
	assert.Equal(t, file{elf: true, loader: "/lib/ld.so"}, inspect(writeExecutable(t, elf.ELFCLASS64, own, "/lib/ld.so")))
	assert.Equal(t, file{elf: true, static: true}, inspect(writeExecutable(t, elf.ELFCLASS64, own, "")))
	assert.Equal(t, file{elf: true, loader: "/lib/ld.so", foreign: "386, 32 bit"}, inspect(writeExecutable(t, elf.ELFCLASS32, elf.EM_386, "/lib/ld.so")))
	assert.NotEmpty(t, inspect(writeExecutable(t, elf.ELFCLASS32, own, "/lib/ld.so")).foreign)
	assert.NotEmpty(t, inspect(writeExecutable(t, elf.ELFCLASS64, other, "/lib/ld.so")).foreign)
	assert.Equal(t, file{}, inspect("/etc/passwd"))
	assert.Equal(t, file{}, inspect("/no/such/file"))
}

func TestRightsOfFiles(t *testing.T) {
	path := writeExecutable(t, elf.ELFCLASS64, ownMachine, "/lib/ld.so")
	assert.Empty(t, rightsOf(path))
	require.NoError(t, os.Chmod(path, 0o755|fs.ModeSetgid))
	assert.Equal(t, "is setgid", rightsOf(path))
	require.NoError(t, os.Chmod(path, 0o755|fs.ModeSetuid))
	assert.Equal(t, "is setuid", rightsOf(path))
	require.NoError(t, os.Chmod(path, 0o755))
	if os.Geteuid() == 0 { // only root may give capabilities
		raw := make([]byte, 20) // CAP_NET_RAW, effective and permitted, version 2
		binary.LittleEndian.PutUint32(raw, 0x02000001)
		binary.LittleEndian.PutUint32(raw[4:], 1<<13)
		require.NoError(t, unix.Setxattr(path, "security.capability", raw, 0))
		assert.Equal(t, "has file capabilities", rightsOf(path))
	}
}

// What says most of the MPI program is reported, and launchers are not programs.
func TestWhatIsReported(t *testing.T) {
	loaded := process{file: file{elf: true}, loaded: true, known: true}
	cleared := process{file: file{elf: true}, known: true, cleared: true}
	ofMPI := cleared
	ofMPI.mpi = "libmpi.so.40"
	for name, test := range map[string]struct {
		seen    map[string]process
		command []string
		says    string
		seenMPI bool
	}{
		"MPI without the tracer before all": {
			map[string]process{"/bin/helper": cleared, "/a": ofMPI, "/usr/bin/python3": loaded}, nil,
			"/a was started without the tracer's LD_PRELOAD: ", true,
		},
		"no tracer before no MPI": {
			map[string]process{"/a": loaded, "/b": cleared}, nil,
			"/b was started without", true,
		},
		"launchers are passed over": {
			map[string]process{"/usr/bin/mpirun.openmpi": cleared, "/bin/sh": cleared, "/a": loaded}, nil,
			"/a had the tracer loaded, but no MPI library", false,
		},
		"several of one kind": {
			map[string]process{"/a": cleared, "/b": cleared, "/c": cleared, "/d": cleared, "/e": cleared}, nil,
			"/a (and 4 others like it) was started without", true,
		},
		"a container's client": {
			map[string]process{"/usr/bin/docker": loaded}, []string{"docker", "run", "image"},
			"on this side of docker", false,
		},
		"emulator":         {map[string]process{"/usr/bin/qemu-arm": {name: "/usr/bin/qemu-arm", file: file{elf: true, static: true}}}, nil, "/usr/bin/qemu-arm emulates", true},
		"nothing was seen": {nil, []string{"sh", "-c", "true"}, "no process called MPI_Init under the tracer", false},
	} {
		t.Run(name, func(t *testing.T) {
			o := Observer{root: "/root", libraries: "/lib/cairn", seen: test.seen}
			text, seen := o.Explain(test.command)
			assert.Contains(t, text, test.says)
			assert.Equal(t, test.seenMPI, seen)
			assert.NotContains(t, text, "\n")
		})
	}
}

// What is seen of a process that executes itself again and again, in turn with and without the
// tracer's LD_PRELOAD, is never a mixture of the two.
func TestProcessThatExecutesItself(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(root, "lib"), 0o755))
	library, err := filepath.Glob("/lib/*-linux-gnu/libm.so.6")
	require.NoError(t, err)
	require.NotEmpty(t, library)
	shim := filepath.Join(root, "lib", shims[0])
	raw, err := os.ReadFile(library[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(shim, raw, 0o755))
	script := filepath.Join(root, "script")
	require.NoError(t, os.WriteFile(script, []byte(`if [ "$LD_PRELOAD" ]; then unset LD_PRELOAD; else export LD_PRELOAD=`+shim+`; fi; exec /bin/sh "$0"`), 0o644))
	cmd := exec.Command("/bin/sh", script)
	require.NoError(t, cmd.Start())
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	o, said := NewObserver(root), map[string]int{}
	for begun := time.Now(); time.Since(begun) < 2*time.Second; {
		name, path := executable(cmd.Process.Pid)
		if p, ok := o.see(cmd.Process.Pid, name, path); ok {
			f := p.finding()
			said[f.fact]++
		}
	}
	for fact := range said {
		assert.NotContains(t, fact, "although", "%v", said)
	}
	assert.Len(t, said, 2, "%v", said)
}

// A process without variables was started without the tracer's, one that has ended says nothing.
func TestProcessWithoutEnvironment(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	cmd.Env = []string{} // without variables
	require.NoError(t, cmd.Start())
	o := NewObserver("/root")
	var name, path string
	require.Eventually(t, func() bool {
		name, path = executable(cmd.Process.Pid)
		p, ok := o.see(cmd.Process.Pid, name, path)
		return ok && p.finding().fact == "was started without the tracer's LD_PRELOAD"
	}, 5*time.Second, time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	require.Eventually(t, func() bool {
		_, ok := o.see(cmd.Process.Pid, name, path)
		return !ok
	}, 5*time.Second, time.Millisecond)
	_ = cmd.Wait()
}

// A process that ends while it is looked at says nothing of its root.
func TestProcessThatEnds(t *testing.T) {
	cmd := exec.Command("true")
	require.NoError(t, cmd.Start())
	defer func() { _ = cmd.Wait() }()
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join("/proc", strconv.Itoa(cmd.Process.Pid), "root"))
		return os.IsNotExist(err)
	}, 5*time.Second, time.Millisecond)
	p, _ := NewObserver("/no-such-folder").see(cmd.Process.Pid, "true", "/bin/true")
	assert.Empty(t, p.hidden)
	self, err := os.Executable()
	require.NoError(t, err)
	p, _ = NewObserver("/no-such-folder").see(os.Getpid(), self, "/proc/self/exe")
	assert.Contains(t, p.hidden, "/no-such-folder")
}

// Of a job on several hosts, what is said is not about this one.
func TestExplainOnHosts(t *testing.T) {
	text, _ := NewObserver("").Explain([]string{"mpirun", "-H", "a,b", "docker", "run", "image"})
	assert.Contains(t, text, "on the hosts' side of docker: put `cairn exec")
	assert.NotContains(t, text, "give it")
}
