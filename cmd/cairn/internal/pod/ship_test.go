package pod_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cairntest"
	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/shipper/spooltest"
	"github.com/cairn-mpi/cairn/store"
)

func TestMain(m *testing.M) { cairntest.Main(m) }

// A sidecarProcess is `cairn ship` as the pod runs it.
type sidecarProcess struct {
	t    *testing.T
	cmd  *exec.Cmd
	log  string // termination log
	said chan string
}

// startSidecar starts a sidecar and waits until it prints something, if it should.
func startSidecar(t *testing.T, environment []string, args ...string) *sidecarProcess {
	t.Helper()
	p := &sidecarProcess{t: t, log: filepath.Join(t.TempDir(), "termination-log"), said: make(chan string, 1)}
	require.NoError(t, os.WriteFile(p.log, nil, 0o644))
	p.cmd = exec.Command(os.Args[0], append([]string{"ship", "--termination-log", p.log}, args...)...)
	p.cmd.Env = append(os.Environ(), append([]string{"CAIRN_TEST_COMMAND=1", "CAIRN_POD_NAME=worker-0", "CAIRN_POD_UID=uid-0"}, environment...)...)
	out, err := p.cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	go func() {
		var text strings.Builder
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			text.WriteString(lines.Text() + "\n")
		}
		p.said <- text.String()
	}()
	return p
}

// end sends SIGTERM, checks that the sidecar succeeds, and returns how long that took, its output
// and its message.
func (p *sidecarProcess) end() (took time.Duration, said string, message messages.Ship) {
	p.t.Helper()
	took, said, err := p.terminate()
	require.NoError(p.t, err, said)
	return took, said, p.message()
}

// message is what the sidecar left for the operator.
func (p *sidecarProcess) message() (message messages.Ship) {
	p.t.Helper()
	raw, err := os.ReadFile(p.log)
	require.NoError(p.t, err)
	if len(raw) > 0 {
		require.NoError(p.t, json.Unmarshal(raw, &message), string(raw))
	}
	return message
}

// terminate sends SIGTERM and waits for the end.
func (p *sidecarProcess) terminate() (took time.Duration, said string, err error) {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Signal(syscall.SIGTERM))
	begun := time.Now()
	said = <-p.said
	err = p.cmd.Wait()
	return time.Since(begun), said, err
}

// living fails the test if the sidecar has ended.
func (p *sidecarProcess) living() {
	p.t.Helper()
	time.Sleep(1500 * time.Millisecond)
	require.NoError(p.t, p.cmd.Process.Signal(syscall.Signal(0)))
	select {
	case said := <-p.said:
		p.t.Fatalf("it has ended: %s", said)
	default:
	}
}

func oneRank(t *testing.T) (spool string) {
	t.Helper()
	spool = t.TempDir()
	spooltest.New("launch", 3, 4).Init().Barrier().Finalize().Write(t, spool)
	return spool
}

// Whatever is wrong with its options or the storage, the sidecar reports it, continues, and ends
// successfully within the grace period, with a message for the operator.
func TestShipNeverFails(t *testing.T) {
	t.Parallel()
	s3 := []string{"--store", "s3://bucket/job", "--s3-endpoint", "https://127.0.0.1:1", "--grace", "8"}
	for name, c := range map[string]struct {
		environment, args []string
		says              string
		reason            messages.StorageReason
	}{
		"no CA file":      {nil, append(s3, "--s3-ca-file", "/no/such/file"), "the CA file cannot be read", "Other"},
		"bad environment": {[]string{"CAIRN_S3_PATH_STYLE=maybe"}, s3, "path style is true or false", "Other"},
		"bad value":       {nil, append(s3, "--spool-limit-bytes", "many"), "--spool-limit-bytes", "CredentialsMissing"},
		"unknown option":  {nil, append([]string{"--no-such", "x", "--flag", "stray"}, s3...), "no such option", "CredentialsMissing"},
		"no store":        {nil, []string{"--grace", "8"}, "--store is missing", "Other"},
		"bad store":       {nil, []string{"--grace", "8", "--store", "ftp://x"}, "ftp", "Other"},
		"nobody answers":  {[]string{"AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=b"}, s3, "connection refused", "Unreachable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := startSidecar(t, c.environment, append(c.args, "--spool", oneRank(t))...)
			p.living()
			took, said, message := p.end()
			require.Less(t, took, 8*time.Second)
			require.Contains(t, said, c.says)
			require.Len(t, message.Lost, 1)
			require.Contains(t, message.Lost[0], "rank 3")
			require.NotNil(t, message.Storage)
			require.Equal(t, c.reason, message.Storage.Reason, message.Storage.Message)
		})
	}
}

// Its output may not be writable: a full disk, or a pipe without a reader.
func TestShipThatCannotPrint(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer full.Close()
	read, unread, err := os.Pipe()
	require.NoError(t, err)
	defer unread.Close()
	require.NoError(t, read.Close())
	for name, out := range map[string]*os.File{"full": full, "closed": unread} {
		t.Run(name, func(t *testing.T) {
			to := t.TempDir()
			cmd := exec.Command(os.Args[0], "ship", "--spool", oneRank(t), "--store", to, "--grace", "8")
			cmd.Env = append(os.Environ(), "CAIRN_TEST_COMMAND=1", "CAIRN_POD_UID=uid-0")
			cmd.Stdout, cmd.Stderr = out, out
			require.NoError(t, cmd.Start())
			time.AfterFunc(2*time.Second, func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
			require.NoError(t, cmd.Wait())
			found, err := filepath.Glob(filepath.Join(to, "shards", "uid-0", "*", "manifest.json"))
			require.NoError(t, err)
			require.Len(t, found, 1)
		})
	}
}

// A missing spool is no reason to end, either.
func TestShipWithoutASpool(t *testing.T) {
	t.Parallel()
	p := startSidecar(t, nil, "--store", t.TempDir(), "--spool", "/no/such/spool", "--grace", "4")
	p.living()
	took, said, _ := p.end()
	require.Less(t, took, 4*time.Second)
	require.Contains(t, said, "the spool cannot be read")
}

// The storage becomes available while the pod is running.
func TestShipOpensTheStoreLater(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "store")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	p := startSidecar(t, nil, "--store", filepath.Join(file, "job"), "--spool", oneRank(t), "--grace", "20")
	p.living()
	require.NoError(t, os.Remove(file))
	require.Eventually(t, func() bool {
		found, _ := filepath.Glob(filepath.Join(file, "job", "shards", "uid-0", "*", "manifest.json"))
		return len(found) == 1
	}, 20*time.Second, 50*time.Millisecond)
	_, _, message := p.end()
	require.Empty(t, message.Lost)
	require.Nil(t, message.Storage)
	s, err := store.Open(filepath.Join(file, "job"), store.S3Options{})
	require.NoError(t, err)
	var pod shard.Pod
	require.NoError(t, shard.Read(t.Context(), s, shard.PodKey("uid-0"), &pod))
	require.True(t, pod.Final)
}

// A connection that accepts everything and never responds does not outlast the grace period. Losses
// are in the message from the beginning, in case the sidecar is killed.
func TestShipOverADeadConnection(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(io.Discard, c) }()
		}
	}()
	p := startSidecar(t, []string{"AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=b"}, "--store", "s3://bucket/job",
		"--s3-endpoint", fmt.Sprintf("http://%s", listener.Addr()), "--spool", oneRank(t), "--grace", "8")
	p.living()
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.Eventually(t, func() bool {
		raw, err := os.ReadFile(p.log)
		return err == nil && strings.Contains(string(raw), "rank 3")
	}, 2*time.Second, 20*time.Millisecond)
	took, _, message := p.end()
	require.Less(t, took, 8*time.Second)
	require.Len(t, message.Lost, 1)
}

// SIGTERM may arrive at any time, also while the sidecar starts.
func TestSignalAtTheStartOfShip(t *testing.T) {
	t.Parallel()
	begun := 0
	for n := range 8 {
		p := startSidecar(t, nil, "--store", t.TempDir(), "--spool", oneRank(t), "--grace", "10")
		time.Sleep(time.Duration(50+30*n) * time.Millisecond)
		took, said, err := p.terminate()
		require.Less(t, took, 5*time.Second)
		if status := p.cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
			require.Equal(t, syscall.SIGTERM, status.Signal())
			continue // on a busy machine it has not begun
		}
		require.NoError(t, err, said)
		require.Empty(t, p.message().Lost)
		begun++
	}
	require.Positive(t, begun)
}

// A FIFO in place of a file of a process neither stops the sidecar nor keeps it from ending.
func TestShipWithAFIFO(t *testing.T) {
	t.Parallel()
	spool := oneRank(t)
	dir := filepath.Join(spool, "host-1-odd")
	require.NoError(t, os.Mkdir(dir, 0o777))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "process.json"), 0o666))
	p := startSidecar(t, nil, "--store", t.TempDir(), "--spool", spool, "--grace", "4")
	p.living()
	took, _, message := p.end()
	require.Less(t, took, 2*time.Second)
	require.Empty(t, message.Lost)
}

// The sidecar runs as another user than the ranks: it owns the spool, and they own what is in it.
func TestShipRemovesWhatAnotherUserHasWritten(t *testing.T) {
	t.Parallel()
	spool, to := t.TempDir(), t.TempDir()
	require.NoError(t, os.Chmod(spool, 0o777|os.ModeSticky))
	dir := spooltest.New("launch", 3, 4).Init().Barrier().Finalize().Write(t, spool)
	require.NoError(t, os.Chmod(dir, 0o777)) // as the shim does
	program := filepath.Join(t.TempDir(), "cairn")
	// by another process: a child that another test starts meanwhile would have our file open
	require.NoError(t, exec.Command("cp", os.Args[0], program).Run())
	cmd := exec.Command(program, "ship", "--spool", spool, "--store", to, "--grace", "20", "--spool-limit-bytes", "1000000")
	cmd.Env = append(os.Environ(), "CAIRN_TEST_COMMAND=1", "CAIRN_POD_UID=uid-0")
	cmd.Stderr = os.Stderr
	if os.Getuid() == 0 { // else all is one user
		const sidecar, rank = 65532, 1000
		require.NoError(t, os.Chown(spool, sidecar, sidecar))
		require.NoError(t, os.Chown(to, sidecar, sidecar))
		require.NoError(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			require.NoError(t, err)
			return os.Chown(path, rank, rank)
		}))
		for parent := filepath.Dir(spool); parent != os.TempDir() && parent != "/"; parent = filepath.Dir(parent) {
			require.NoError(t, os.Chmod(parent, 0o755))
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: sidecar, Gid: sidecar}}
	}
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool { _, err := os.Stat(dir); return os.IsNotExist(err) }, 20*time.Second, 50*time.Millisecond)
	account, err := os.Stat(filepath.Join(spool, "budget"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o666), account.Mode().Perm())
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, cmd.Wait())
}

// The sidecar makes the names of call sites for a binary that a rank sends.
func TestShipNamesCallSites(t *testing.T) {
	t.Parallel()
	spool, dir := oneRank(t), t.TempDir()
	source, binary := filepath.Join(dir, "program.c"), filepath.Join(dir, "program")
	require.NoError(t, os.WriteFile(source, []byte("int main(void) { return 0; }\n"), 0o644))
	out, err := exec.Command("gcc", "-g", "-Wl,--build-id=0xcafe", "-o", binary, source).CombinedOutput()
	require.NoError(t, err, string(out))
	file, err := os.Open(binary)
	require.NoError(t, err)
	defer file.Close()
	p := startSidecar(t, nil, "--store", t.TempDir(), "--spool", spool, "--grace", "20")
	require.Eventually(t, func() bool { return spooltest.Send(spool, "cafe\x00"+binary, file) == nil }, 20*time.Second, 10*time.Millisecond)
	_, said, message := p.end() // which waits for the names
	require.Empty(t, message.Lost)
	table, err := os.ReadFile(filepath.Join(spool, "symbols", "cafe.json"))
	require.NoError(t, err, said)
	require.Contains(t, string(table), "program.c")
}
