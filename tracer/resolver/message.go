package resolver

import (
	"encoding/hex"
	"errors"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A message is a binary that a rank sent: build id, a zero byte and path as text, with one or two
// descriptors.
type message struct {
	buildID, path string
	files         []*os.File // the binary, and its separate debug file if there is one
}

const (
	maxText    = 4096 + 2*maxBuildID + 1
	maxBuildID = 64
	maxFiles   = 2
)

var (
	errNoMessage  = errors.New("no message")
	errText       = errors.New("the text is not a build id and a path")
	errFiles      = errors.New("not one or two descriptors")
	errNotRegular = errors.New("not a regular file")
)

// receive receives the message of a connection without waiting. The caller closes the files.
func receive(connection int) (message, error) {
	text := make([]byte, maxText)
	control := make([]byte, unix.CmsgSpace(maxFiles*4))
	n, controlled, flags, _, err := unix.Recvmsg(connection, text, control, unix.MSG_DONTWAIT|unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return message{}, err
	}
	m := message{files: descriptors(control[:controlled])}
	if err := m.read(string(text[:n]), flags); err != nil {
		m.close()
		return message{}, err
	}
	return m, nil
}

func descriptors(control []byte) (files []*os.File) {
	parts, _ := unix.ParseSocketControlMessage(control)
	for i := range parts {
		numbers, _ := unix.ParseUnixRights(&parts[i])
		for _, fd := range numbers {
			files = append(files, os.NewFile(uintptr(fd), "received"))
		}
	}
	return files
}

func (m *message) read(text string, flags int) error {
	var whole bool
	m.buildID, m.path, whole = strings.Cut(text, "\x00")
	id, err := hex.DecodeString(m.buildID)
	switch {
	case text == "" && len(m.files) == 0:
		return errNoMessage
	case !whole || flags&unix.MSG_TRUNC != 0 || m.path == "" || strings.Contains(m.path, "\x00"):
		return errText
	case err != nil || len(id) == 0 || len(id) > maxBuildID || m.buildID != strings.ToLower(m.buildID):
		return errText
	case flags&unix.MSG_CTRUNC != 0 || len(m.files) == 0 || len(m.files) > maxFiles:
		return errFiles
	}
	return nil
}

// regular reports whether all descriptors are of regular files.
func (m *message) regular() bool {
	return !slices.ContainsFunc(m.files, func(file *os.File) bool {
		info, err := file.Stat()
		return err != nil || !info.Mode().IsRegular()
	})
}

func (m *message) close() {
	for _, file := range m.files {
		file.Close()
	}
}
