package spooltest

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// holdVariable makes a test binary hold the lock of a directory instead of testing.
const holdVariable = "CAIRN_TEST_HOLD_LOCK"

// Main is for TestMain: it holds a lock if it was started by Hold, and otherwise runs the tests.
func Main(m *testing.M) {
	if dir := os.Getenv(holdVariable); dir != "" {
		hold(dir)
	}
	_ = flag.Set("test.parallel", "8") // those that are parallel wait for something else than a CPU
	os.Exit(m.Run())
}

func hold(dir string) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR, 0)
	if err == nil {
		err = unix.FcntlFlock(f.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart})
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("held")
	_, _ = io.Copy(io.Discard, os.Stdin) // until the test ends it
	os.Exit(0)
}

// Hold starts a process that holds the lock of a process directory, like the rank itself while it
// runs. The returned function ends it.
func Hold(t testing.TB, dir string) (end func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holdVariable+"="+dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	if line != "held\n" {
		t.Fatalf("the lock cannot be held: %s", line)
	}
	end = sync.OnceFunc(func() {
		in.Close()
		_ = cmd.Wait()
	})
	t.Cleanup(end)
	return end
}

// Live puts a running process into a spool that a sidecar watches. The returned function ends it.
func (p *Process) Live(t testing.TB, spool string) (end func()) {
	t.Helper()
	dir := p.Write(t, t.TempDir())
	end = Hold(t, dir)
	if err := os.Rename(dir, filepath.Join(spool, p.Directory())); err != nil {
		t.Error(err)
	}
	return end
}
