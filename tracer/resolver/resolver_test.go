package resolver_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/shipper/spooltest"
	"github.com/cairn-mpi/cairn/tracer/resolver"
	"github.com/cairn-mpi/cairn/tracer/symbols"
)

// childVariable makes the test binary the child of a listener.
const childVariable = "CAIRN_TEST_RESOLVE"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		if err := resolver.Child(os.Args[1:], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A listening is a listener for a test.
type listening struct {
	*resolver.Listener
	t     *testing.T
	spool string
	mu    sync.Mutex
	log   []string
}

// listen starts a listener, by default with this binary as its child.
func listen(t *testing.T, o resolver.Options) *listening {
	t.Helper()
	t.Setenv(childVariable, "1")
	l := &listening{t: t, spool: o.Spool}
	if o.Command == nil {
		o.Command = os.Args[:1]
	}
	o.Logf = func(format string, args ...any) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.log = append(l.log, fmt.Sprintf(format, args...))
	}
	var err error
	l.Listener, err = resolver.Listen(o)
	require.NoError(t, err)
	t.Cleanup(sync.OnceFunc(l.Close))
	return l
}

func (l *listening) messages() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.log, "\n")
}

// await waits until nothing is pending.
func (l *listening) await() {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), time.Minute)
	defer cancel()
	l.Wait(ctx)
	require.NoError(l.t, ctx.Err(), "still pending")
}

func (l *listening) path(name string) string { return filepath.Join(l.spool, "symbols", name) }

// send sends a binary, with its separate debug file if there is one.
func (l *listening) send(id string, paths ...string) {
	l.t.Helper()
	var files []*os.File
	for _, path := range paths {
		file, err := os.Open(path)
		require.NoError(l.t, err)
		defer file.Close()
		files = append(files, file)
	}
	require.NoError(l.t, spooltest.Send(l.spool, id+"\x00"+paths[0], files...))
}

const program = `__attribute__((noinline)) static int inner(int x) { return x * x + 1; }
static inline int inlined(int x) { return inner(x) + 2; }
int main(int argc, char **argv) { return inlined(argc); }
`

// compile compiles a program with a build id.
func compile(t *testing.T, id string) string {
	t.Helper()
	dir := t.TempDir()
	source, binary := filepath.Join(dir, "program.c"), filepath.Join(dir, "program")
	require.NoError(t, os.WriteFile(source, []byte(program), 0o644))
	out, err := exec.Command("gcc", "-g", "-O1", "-Wl,--build-id=0x"+id, "-o", binary, source).CombinedOutput()
	require.NoError(t, err, string(out))
	return binary
}

// extracted is the table of a binary that is at hand, made in this process.
func extracted(t *testing.T, binary string) string {
	t.Helper()
	path, err := symbols.Resolve(binary, t.TempDir())
	require.NoError(t, err)
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(raw)
}

func (l *listening) requireTable(id, want string) {
	l.t.Helper()
	raw, err := os.ReadFile(l.path(id + ".json"))
	require.NoError(l.t, err, l.messages())
	require.Equal(l.t, want, string(raw))
}

// A sent binary gets the table that it would get where it is, also if it is gone since.
func TestTable(t *testing.T) {
	l := listen(t, resolver.Options{Spool: t.TempDir()})
	binary := compile(t, "cafe01")
	want := extracted(t, binary)
	l.send("cafe01", binary)
	require.NoError(t, os.Remove(binary))
	require.True(t, l.Pending())
	l.await()
	require.FileExists(t, l.path("cafe01.received"))
	l.requireTable("cafe01", want)
	require.Contains(t, want, "program.c")
	info, err := os.Stat(l.path("cafe01.json"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o644), info.Mode().Perm())
	info, err = os.Stat(l.path("socket"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o777), info.Mode().Perm(), "ranks are other users")
}

// The lines of a stripped binary are in its separate debug file, unless that is another binary's.
func TestSeparateDebugFile(t *testing.T) {
	l := listen(t, resolver.Options{Spool: t.TempDir()})
	whole := map[string]string{}
	for _, id := range []string{"cafe02", "cafe03"} {
		whole[id] = compile(t, id)
		for option, name := range map[string]string{"--only-keep-debug": ".debug", "--strip-all": ".stripped"} {
			out, err := exec.Command("objcopy", option, whole[id], whole[id]+name).CombinedOutput()
			require.NoError(t, err, string(out))
		}
	}
	l.send("cafe02", whole["cafe02"]+".stripped", whole["cafe02"]+".debug")
	l.send("cafe03", whole["cafe03"]+".stripped", whole["cafe02"]+".debug")
	l.await()
	table, err := symbols.Read(l.path(""), "cafe02")
	require.NoError(t, err, l.messages())
	at, err := symbols.Extract(whole["cafe02"])
	require.NoError(t, err)
	named := 0
	for offset := range uint64(1 << 13) {
		got, ok := table.Lookup(offset)
		want, _ := at.Lookup(offset)
		if want.File == "" { // the symbols of the C library's start files were stripped
			continue
		}
		require.True(t, ok)
		require.Equal(t, want, got, "offset %#x", offset)
		named++
	}
	require.Positive(t, named)
	raw, err := os.ReadFile(l.path("cafe03.json"))
	require.NoError(t, err)
	require.NotContains(t, string(raw), "program.c")
}

// The child runs at the lowest priority, one at a time, and each binary is resolved once.
func TestChildren(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	script := fmt.Sprintf(`echo "begin $(nice)" >> %[1]s; sleep 0.1; echo end >> %[1]s; echo {}`, log)
	l := listen(t, resolver.Options{Spool: t.TempDir(), Command: []string{"sh", "-c", script}})
	binary := compile(t, "cafe04")
	for range 20 {
		for _, id := range []string{"aa01", "aa02", "aa03"} {
			l.send(id, binary)
		}
	}
	l.await()
	raw, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("begin 19\nend\n", 3), string(raw))
	for _, id := range []string{"aa01", "aa02", "aa03"} {
		l.requireTable(id, "{}\n")
	}
}

// A child has the binary as descriptor 3, and else what any child has.
func TestDescriptorsOfAChild(t *testing.T) {
	command := []string{"sh", "-c", "exec ls /proc/self/fd"}
	plain, err := exec.Command(command[0], command[1:]...).Output()
	require.NoError(t, err)
	l := listen(t, resolver.Options{Spool: t.TempDir(), Command: command})
	l.send("aa04", compile(t, "cafe15"))
	l.await()
	raw, err := os.ReadFile(l.path("aa04.json"))
	require.NoError(t, err)
	require.ElementsMatch(t, append(strings.Fields(string(plain)), "4"), strings.Fields(string(raw)), "ls has one of its own")
}

// Pending is exact: a binary is pending from the moment when it was sent until its table is there.
func TestPending(t *testing.T) {
	l := listen(t, resolver.Options{Spool: t.TempDir(), Command: []string{"sh", "-c", "echo {}"}})
	require.False(t, l.Pending())
	binary := compile(t, "cafe05")
	for i := range 50 {
		id := fmt.Sprintf("%04x", i)
		l.send(id, binary)
		for l.Pending() {
			time.Sleep(time.Millisecond)
		}
		require.FileExists(t, l.path(id+".json"))
	}
}

// What is sent may be anything. Afterwards the listener still works and has nothing open.
func TestHostileSenders(t *testing.T) {
	l := listen(t, resolver.Options{Spool: t.TempDir()})
	good := compile(t, "cafe06")
	raw, err := os.ReadFile(good)
	require.NoError(t, err)
	before := openFiles(t)

	open := func(path string) *os.File {
		file, err := os.Open(path)
		require.NoError(t, err)
		t.Cleanup(func() { file.Close() })
		return file
	}
	binary := open(good)
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	defer write.Close()
	dir := t.TempDir()
	put := func(name string, size int64, content []byte) *os.File {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, content, 0o644))
		if size > 0 {
			require.NoError(t, os.Truncate(path, size))
		}
		return open(path)
	}
	zero := open("/dev/zero")
	refused := map[string][]*os.File{
		"": nil, "no zero byte": {binary}, "\x00/app": {binary}, "xyz\x00/app": {binary}, "ABCD\x00/app": {binary},
		"abc\x00/app": {binary}, "../../abcd\x00/app": {binary}, "abcd\x00": {binary}, "abcd\x00/a\x00b": {binary},
		strings.Repeat("ab", 65) + "\x00/app":          {binary},
		"abcd\x00" + strings.Repeat("/long", 1000):     {binary},
		"abcd\x00/no files":                            nil,
		"abcd\x00/three":                               {binary, binary, binary},
		"bb01\x00/pipe":                                {read},
		"bb02\x00/directory":                           {open("/")},
		"bb03\x00/device":                              {zero},
		"bb04\x00/device as debug file":                {binary, zero},
		"bb05\x00/write only":                          {write},
		"bb06\x00/empty":                               {put("empty", 0, nil)},
		"bb07\x00/text":                                {put("text", 0, []byte("#!/bin/sh\n"))},
		"bb08\x00/truncated":                           {put("truncated", 0, raw[:len(raw)/2])},
		"bb09\x00/huge":                                {put("huge", 1<<40, raw[:4096])},
		"bb10\x00/another build id":                    {binary},
		"bb11\x00/\n\x1b[2J--build-id=cafe06 --memory": {binary},
	}
	for text, files := range refused {
		_ = spooltest.Send(l.spool, text, files...)
	}
	l.await()
	names, err := filepath.Glob(l.path("*.json"))
	require.NoError(t, err)
	require.Empty(t, names)
	require.NotContains(t, l.messages(), "\x1b")
	l.send("cafe06", good)
	l.await()
	l.requireTable("cafe06", extracted(t, good))
	for _, file := range []*os.File{read, write} {
		file.Close()
	}
	require.LessOrEqual(t, openFiles(t), before+10, "what this test has open itself")
}

// Damaged binaries, at random.
func TestDamagedBinaries(t *testing.T) {
	l := listen(t, resolver.Options{Spool: t.TempDir(), Memory: 64 << 20})
	raw, err := os.ReadFile(compile(t, "cafe07"))
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(1, 2))
	rounds := 30
	if testing.Short() {
		rounds = 8
	}
	for range rounds {
		damaged := bytes.Clone(raw)
		for range 1 << random.IntN(10) {
			at := random.IntN(len(damaged))
			if random.IntN(2) == 0 {
				at = random.IntN(1024) // headers
			}
			damaged[at] = byte(random.Uint32())
		}
		path := filepath.Join(t.TempDir(), "damaged")
		require.NoError(t, os.WriteFile(path, damaged[:random.IntN(len(damaged))+1], 0o644))
		l.send(hex.EncodeToString(binaryID(random)), path)
		l.await()
	}
}

func binaryID(random *rand.Rand) []byte {
	id := make([]byte, 20)
	for i := range id {
		id[i] = byte(random.Uint32())
	}
	return id
}

// Thousands of connections, most of which never send anything.
func TestManyConnections(t *testing.T) {
	l := listen(t, resolver.Options{Spool: t.TempDir(), Command: []string{"sh", "-c", "echo {}"}})
	before := openFiles(t)
	var silent []int
	for range 3000 {
		if connection, err := spooltest.Connect(l.spool); err == nil {
			silent = append(silent, connection)
		}
		if len(silent) == 400 {
			for _, connection := range silent {
				_ = unix.Close(connection)
			}
			silent = nil
		}
	}
	binary, err := os.Open(compile(t, "cafe08"))
	require.NoError(t, err)
	require.Eventually(t, func() bool { // a rank tries it again, too
		return spooltest.Send(l.spool, "cc01\x00/app", binary) == nil
	}, 5*time.Second, 10*time.Millisecond)
	require.NoError(t, binary.Close())
	l.await()
	l.requireTable("cc01", "{}\n")
	for _, connection := range silent {
		_ = unix.Close(connection)
	}
	require.Eventually(t, func() bool { return openFiles(t) <= before }, 5*time.Second, 10*time.Millisecond)
}

// A child that needs too much memory ends, and only its own table is missing.
func TestLimitOfMemory(t *testing.T) {
	dir := t.TempDir()
	source, huge := filepath.Join(dir, "huge.s"), filepath.Join(dir, "huge")
	var text strings.Builder
	text.WriteString(".text\n.globl _start\n_start:\n")
	for i := range 300_000 {
		fmt.Fprintf(&text, ".type f%[1]d,@function\nf%[1]d: nop\n", i)
	}
	require.NoError(t, os.WriteFile(source, []byte(text.String()), 0o644))
	out, err := exec.Command("gcc", "-nostdlib", "-Wl,--build-id=0xcafe09", "-o", huge, source).CombinedOutput()
	require.NoError(t, err, string(out))
	small := compile(t, "cafe14")
	l := listen(t, resolver.Options{Spool: t.TempDir(), Memory: 24 << 20})
	l.send("cafe09", huge)
	l.send("cafe14", small)
	l.await()
	require.NoFileExists(t, l.path("cafe09.json"))
	require.Contains(t, l.messages(), "names of call sites")
	l.requireTable("cafe14", extracted(t, small))
}

// The second child gets no debug information.
func TestSecondChild(t *testing.T) {
	script := `for a in "$0" "$@"; do if [ "$a" = --debug ]; then exit 1; fi; done; echo {}`
	l := listen(t, resolver.Options{Spool: t.TempDir(), Command: []string{"sh", "-c", script}})
	l.send("cc02", compile(t, "cafe10"))
	l.await()
	l.requireTable("cc02", "{}\n")
}

// A listener that is started again accepts what the one before it did not finish, and not what has
// a table. It replaces the socket, and waits for nothing that the other left.
func TestRestart(t *testing.T) {
	o := resolver.Options{Spool: t.TempDir(), Command: []string{"sh", "-c", "sleep 100"}}
	binary := compile(t, "cafe11")
	first := listen(t, o)
	first.send("cafe11", binary)
	require.True(t, first.Pending())
	begun := time.Now()
	first.Close()
	require.Less(t, time.Since(begun), 5*time.Second)
	require.NoFileExists(t, first.path("socket"))
	require.NoFileExists(t, first.path("cafe11.json"))
	require.FileExists(t, first.path("cafe11.received"))

	// as after a kill
	killed, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET, 0)
	require.NoError(t, err)
	require.NoError(t, unix.Bind(killed, &unix.SockaddrUnix{Name: first.path("socket")}))
	require.NoError(t, unix.Close(killed))
	require.NoError(t, os.WriteFile(first.path("cafe12.json"), []byte("kept"), 0o644))
	require.NoError(t, os.WriteFile(first.path("cafe12.received"), nil, 0o644))
	o.Command = nil
	second := listen(t, o)
	require.False(t, second.Pending())
	require.NoFileExists(t, second.path("cafe11.received"))
	require.FileExists(t, second.path("cafe12.received"))
	second.send("cafe11", binary)
	second.send("cafe12", binary)
	second.await()
	second.requireTable("cafe11", extracted(t, binary))
	second.requireTable("cafe12", "kept")
}

// The path of a spool may be longer than the address of a socket.
func TestLongPath(t *testing.T) {
	spool := filepath.Join(t.TempDir(), strings.Repeat("long/", 60))
	require.NoError(t, os.MkdirAll(spool, 0o755))
	l := listen(t, resolver.Options{Spool: spool})
	binary := compile(t, "cafe13")
	l.send("cafe13", binary)
	l.await()
	l.requireTable("cafe13", extracted(t, binary))
}

// Nobody leads the listener out of the spool.
func TestLinkInPlaceOfTheDirectory(t *testing.T) {
	spool, elsewhere := t.TempDir(), t.TempDir()
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(spool, "symbols")))
	_, err := resolver.Listen(resolver.Options{Spool: spool, Command: os.Args[:1]})
	require.Error(t, err)
	entries, err := os.ReadDir(elsewhere)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(entries)
}
