package spooltest

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Connect connects to the listener for binaries of a spool.
func Connect(spool string) (connection int, err error) {
	folder, err := os.Open(filepath.Join(spool, "symbols"))
	if err != nil {
		return -1, err
	}
	defer folder.Close()
	connection, err = unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	err = unix.Connect(connection, &unix.SockaddrUnix{Name: fmt.Sprintf("/proc/self/fd/%d/socket", folder.Fd())})
	if err != nil {
		_ = unix.Close(connection)
	}
	return connection, err
}

// Send sends a text and descriptors to the listener, as a rank does.
func Send(spool, text string, files ...*os.File) error {
	connection, err := Connect(spool)
	if err != nil {
		return err
	}
	defer unix.Close(connection)
	var numbers []int
	for _, file := range files {
		numbers = append(numbers, int(file.Fd()))
	}
	var rights []byte
	if len(numbers) > 0 {
		rights = unix.UnixRights(numbers...)
	}
	return unix.Sendmsg(connection, []byte(text), rights, nil, unix.MSG_NOSIGNAL)
}
