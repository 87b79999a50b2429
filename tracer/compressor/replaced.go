package compressor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// programOf returns the program that a process executes; "" if that is not visible.
func programOf(pid int) string {
	program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(program, " (deleted)") // the file was replaced, not the program
}

// seeProgram notes that a process executes another program by now: it has no lock any more, but is
// not dead. How that program ends is seen as if it were the rank's own end.
func (p *process) seeProgram() {
	if p.pidfd < 0 || !p.died.IsZero() || p.program == "" {
		return
	}
	now := programOf(p.pid)
	if now == "" || now == p.program || unix.PidfdSendSignal(p.pidfd, 0, nil, 0) != nil { // the id may be another process's
		return
	}
	p.life.Replaced(filepath.Base(now))
}
