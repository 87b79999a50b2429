//go:build mpi

package shimtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A sent binary is a message that ranks send to the listener of their spool.
type sent struct {
	text  string
	files []os.FileInfo
	flags []int // of the open files
}

// A fakeListener collects what ranks send.
type fakeListener struct {
	t       *testing.T
	fd      int
	closing sync.Once
	done    chan struct{}

	mu   sync.Mutex
	sent []sent
}

// bind makes the socket of a spool. Nobody accepts connections yet.
func bind(t *testing.T, spool string, backlog int) *fakeListener {
	t.Helper()
	dir := filepath.Join(spool, "symbols")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	folder, err := os.Open(dir)
	require.NoError(t, err)
	defer folder.Close()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	require.NoError(t, unix.Bind(fd, &unix.SockaddrUnix{Name: fmt.Sprintf("/proc/self/fd/%d/socket", folder.Fd())}))
	require.NoError(t, unix.Listen(fd, backlog))
	l := &fakeListener{t: t, fd: fd}
	t.Cleanup(l.close)
	return l
}

// close closes the socket, once: its descriptor may be another file's afterwards.
func (l *fakeListener) close() { l.closing.Do(func() { _ = unix.Close(l.fd) }) }

// listen makes the socket and accepts connections.
func listen(t *testing.T, spool string) *fakeListener {
	l := bind(t, spool, 100)
	l.done = make(chan struct{})
	go func() {
		defer close(l.done)
		for {
			connection, _, err := unix.Accept4(l.fd, unix.SOCK_CLOEXEC)
			if err != nil {
				return
			}
			l.receive(connection)
			_ = unix.Close(connection)
		}
	}()
	return l
}

func (l *fakeListener) receive(connection int) {
	text, control := make([]byte, 8192), make([]byte, 256)
	n, controlled, _, _, err := unix.Recvmsg(connection, text, control, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return
	}
	s := sent{text: string(text[:n])}
	parts, _ := unix.ParseSocketControlMessage(control[:controlled])
	for i := range parts {
		numbers, _ := unix.ParseUnixRights(&parts[i])
		for _, fd := range numbers {
			file := os.NewFile(uintptr(fd), "sent")
			info, err := file.Stat()
			if err == nil {
				flags, _ := unix.FcntlInt(file.Fd(), unix.F_GETFL, 0)
				s.files, s.flags = append(s.files, info), append(s.flags, flags)
			}
			file.Close()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent = append(l.sent, s)
}

func (l *fakeListener) received() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.sent)
}

// all ends the listener and returns what was sent.
func (l *fakeListener) all() []sent {
	_ = unix.Shutdown(l.fd, unix.SHUT_RD)
	<-l.done
	return l.sent
}

// of returns what was sent for a binary; all of it must be alike.
func (l *fakeListener) of(binary string) []sent {
	l.t.Helper()
	var found []sent
	for _, s := range l.all() {
		id, path, _ := strings.Cut(s.text, "\x00")
		require.Regexp(l.t, "^[0-9a-f]{40}$", id)
		require.NotEmpty(l.t, s.files)
		for _, flags := range s.flags {
			require.Zero(l.t, flags&unix.O_ACCMODE, "read-only")
		}
		if path == binary {
			info, err := os.Stat(binary)
			require.NoError(l.t, err)
			require.True(l.t, os.SameFile(info, s.files[0]))
			found = append(found, s)
		}
	}
	return found
}

// sends.c does what its arguments say.
const sends = `
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static int open_files(void)
{
	int n = 0;
	DIR *d = opendir("/proc/self/fd");
	while (readdir(d)) n++;
	closedir(d);
	return n;
}
static void no_socket(void) /* of this kind: MPI needs others */
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 5, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(*code), code};
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) printf("no filter\n");
}
int main(int argc, char **argv)
{
	int flag, before, rank;
	if (argc > 1 && !strcmp(argv[1], "seccomp")) no_socket();
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	before = open_files();
	errno = 77;
	MPI_Initialized(&flag); /* the first call of another call site */
	if (errno != 77) printf("errno %d\n", errno);
	if (open_files() != before) printf("another descriptor\n");
	if (argc > 3 && !strcmp(argv[1], "wait")) {
		fclose(fopen(argv[2], "w"));
		while (access(argv[3], F_OK)) usleep(1000);
	}
	MPI_Finalize();
	printf("end\n");
	return 0;
}
`

func compileSends(t *testing.T, implementation string, flags ...string) string {
	source := filepath.Join(t.TempDir(), "sends.c")
	require.NoError(t, os.WriteFile(source, []byte(sends), 0o644))
	return Compile(t, implementation, source, flags...)
}

func requireEnd(t *testing.T, r Result, ranks int) {
	t.Helper()
	require.Zero(t, r.Code, r.Stderr)
	// lines of several ranks may be mixed
	require.Equal(t, strings.Repeat("end", ranks), strings.ReplaceAll(r.Stdout, "\n", ""))
	require.Empty(t, r.Stderr)
}

// A rank sends its binary, and has no child, no descriptor and no errno from it.
func TestBinaryIsSent(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "ends.c")
	require.NoError(t, os.WriteFile(source, []byte(ends), 0o644))
	for _, implementation := range Implementations {
		t.Run(implementation, func(t *testing.T) {
			program := compileSends(t, implementation)
			tracer := NewTracer(t, map[string]any{"call_sites": "caller"})
			l := listen(t, filepath.Join(tracer.Dir, "spool"))
			requireEnd(t, tracer.Run(t, Launch(implementation, 4, program)...), 4)
			found := l.of(program)
			require.NotEmpty(t, found)
			require.Len(t, found[0].files, 1, "there is no separate debug file")

			program = Compile(t, implementation, source)
			plain, traced := Run(t, nil, program, "fork"), tracer.Run(t, program, "fork")
			require.Equal(t, plain.Code, traced.Code)
			require.Equal(t, plain.Stdout, traced.Stdout, "no child that the program could wait for")
		})
	}
}

// What the listener has is not sent. Without call sites nothing is.
func TestBinaryIsNotSent(t *testing.T) {
	t.Parallel()
	program := compileSends(t, "mpich", "-Wl,--build-id=0xcafe")
	for sites, marker := range map[string]string{"caller": "cafe.received", "none": "other"} {
		tracer := NewTracer(t, map[string]any{"call_sites": sites})
		spool := filepath.Join(tracer.Dir, "spool")
		l := listen(t, spool)
		require.NoError(t, os.WriteFile(filepath.Join(spool, "symbols", marker), nil, 0o644))
		requireEnd(t, tracer.Run(t, program), 1)
		require.Empty(t, l.of(program))
	}
}

// Whatever is wrong with the socket, the rank goes on at once.
func TestNobodyReceives(t *testing.T) {
	t.Parallel()
	for _, implementation := range Implementations {
		program := compileSends(t, implementation)
		for name, prepare := range map[string]func(t *testing.T, spool string){
			"no folder": func(*testing.T, string) {},
			"no socket": func(t *testing.T, spool string) { require.NoError(t, os.Mkdir(filepath.Join(spool, "symbols"), 0o755)) },
			"nobody listens": func(t *testing.T, spool string) {
				bind(t, spool, 1).close()
			},
			"nobody accepts": func(t *testing.T, spool string) {
				bind(t, spool, 0)
			},
			"a file": func(t *testing.T, spool string) {
				require.NoError(t, os.WriteFile(filepath.Join(spool, "symbols"), nil, 0o644))
			},
			"the reader closes": func(t *testing.T, spool string) {
				l := bind(t, spool, 100)
				go func() {
					for {
						connection, _, err := unix.Accept(l.fd)
						if err != nil {
							return
						}
						_ = unix.Close(connection)
					}
				}()
				t.Cleanup(func() { _ = unix.Shutdown(l.fd, unix.SHUT_RD) })
			},
		} {
			t.Run(implementation+" "+name, func(t *testing.T) {
				tracer := NewTracer(t, map[string]any{"call_sites": "path"})
				prepare(t, filepath.Join(tracer.Dir, "spool"))
				requireEnd(t, tracer.Run(t, Launch(implementation, 4, program)...), 4)
				require.Len(t, tracer.Processes(t), 4)
			})
		}
		t.Run(implementation+" seccomp", func(t *testing.T) {
			tracer := NewTracer(t, map[string]any{"call_sites": "caller"})
			l := listen(t, filepath.Join(tracer.Dir, "spool"))
			requireEnd(t, tracer.Run(t, program, "seccomp"), 1)
			require.Empty(t, l.all())
		})
	}
}

// A listener that starts after the rank gets the binary at the latest in MPI_Finalize, also if
// another one had received it.
func TestListenerThatStartsLater(t *testing.T) {
	t.Parallel()
	program := compileSends(t, "mpich")
	for name, earlier := range map[string]bool{"late": false, "restarted": true} {
		t.Run(name, func(t *testing.T) {
			tracer := NewTracer(t, map[string]any{"call_sites": "caller"})
			spool := filepath.Join(tracer.Dir, "spool")
			dir := t.TempDir()
			begun, end := filepath.Join(dir, "begun"), filepath.Join(dir, "end")
			var first *fakeListener
			if earlier {
				first = listen(t, spool)
			}
			result := make(chan Result, 1)
			go func() { result <- tracer.Run(t, program, "wait", begun, end) }()
			require.Eventually(t, func() bool { return exists(begun) }, 20*time.Second, time.Millisecond)
			if earlier {
				require.Eventually(t, func() bool { return first.received() > 0 }, 20*time.Second, time.Millisecond)
				first.all()
				require.NoError(t, os.Remove(filepath.Join(spool, "symbols", "socket")))
			}
			l := listen(t, spool)
			require.NoError(t, os.WriteFile(end, nil, 0o644))
			requireEnd(t, <-result, 1)
			require.NotEmpty(t, l.of(program))
		})
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// The path of a spool may be longer than the address of a socket.
func TestLongPathOfTheSpool(t *testing.T) {
	t.Parallel()
	for _, implementation := range Implementations {
		program := compileSends(t, implementation)
		spool := filepath.Join(t.TempDir(), strings.Repeat("long/", 60))
		require.NoError(t, os.MkdirAll(spool, 0o755))
		tracer := NewTracer(t, map[string]any{"call_sites": "caller", "spool": spool})
		l := listen(t, spool)
		requireEnd(t, tracer.Run(t, program), 1)
		require.NotEmpty(t, l.of(program))
	}
}

// The separate debug file is where .gnu_debuglink says, in one of the usual folders.
func TestSeparateDebugFileIsSent(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"", ".debug"} {
		program := compileSends(t, "mpich")
		dir := filepath.Join(filepath.Dir(program), folder)
		require.NoError(t, os.MkdirAll(dir, 0o755))
		separate := filepath.Join(dir, "names.debug")
		for _, command := range [][]string{
			{"objcopy", "--only-keep-debug", program, separate},
			{"objcopy", "--strip-all", "--add-gnu-debuglink=" + separate, program},
		} {
			out, err := exec.Command(command[0], command[1:]...).CombinedOutput()
			require.NoError(t, err, string(out))
		}
		tracer := NewTracer(t, map[string]any{"call_sites": "caller"})
		l := listen(t, filepath.Join(tracer.Dir, "spool"))
		requireEnd(t, tracer.Run(t, program), 1)
		found := l.of(program)
		require.NotEmpty(t, found)
		require.Len(t, found[0].files, 2)
		info, err := os.Stat(separate)
		require.NoError(t, err)
		require.True(t, os.SameFile(info, found[0].files[1]))
	}
}
