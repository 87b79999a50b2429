package compressor

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// The list of those that are ready has the order of deaths, whenever it is read, and a process that
// nobody has waited for shows its wait status.
func TestEpollHasOrderOfDeaths(t *testing.T) {
	d := newDeaths()
	defer d.close()
	var commands []*exec.Cmd
	byFD := map[int32]int{}
	for i := range 5 {
		c := exec.Command("sleep", "1000")
		require.NoError(t, c.Start())
		commands = append(commands, c)
		fd, err := unix.PidfdOpen(c.Process.Pid, 0)
		require.NoError(t, err)
		defer unix.Close(fd)
		event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(fd)}
		require.NoError(t, unix.EpollCtl(d.epoll, unix.EPOLL_CTL_ADD, fd, &event))
		byFD[int32(fd)] = i
	}
	want := []int{3, 1, 4, 0, 2}
	for _, i := range want {
		require.NoError(t, commands[i].Process.Kill())
		for !isZombie(commands[i].Process.Pid) {
			time.Sleep(time.Millisecond)
		}
	}
	events := make([]unix.EpollEvent, 8)
	n, err := unix.EpollWait(d.epoll, events, 0)
	require.NoError(t, err)
	var got []int
	for _, e := range events[:n] {
		i := byFD[e.Fd]
		got = append(got, i)
		status, ok := zombieStatus(commands[i].Process.Pid, int(e.Fd))
		require.True(t, ok)
		require.Equal(t, unix.SIGKILL, status.Signal())
		_ = commands[i].Wait()
		_, ok = zombieStatus(commands[i].Process.Pid, int(e.Fd))
		require.False(t, ok, "it has been waited for")
	}
	require.Equal(t, want, got)
}

func isZombie(pid int) bool {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return bytes.Contains(stat, []byte(") Z "))
}
