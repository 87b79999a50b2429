package network

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Command returns the command that runs a command on the host: in its namespaces, and with a /sys
// that shows its interface.
func (h *Host) Command(command ...string) []string {
	if h.first != nil {
		return append(h.inside(), command...)
	}
	inside := []string{
		"nsenter", h.file("net", h.network), h.file("uts", h.name),
		"unshare", "--mount", "sh", "-c", `mount -t sysfs sysfs /sys && exec "$@"`, "sh",
	}
	return append(inside, command...)
}

func (h *Host) file(name string, f *os.File) string {
	return fmt.Sprintf("--%s=/proc/%d/fd/%d", name, os.Getpid(), f.Fd())
}

// Agent writes a script into a folder that MPI launchers call instead of ssh: AGENT [-OPTION]...
// ADDRESS COMMAND...
func (n *Network) Agent(dir string) (path string, err error) {
	script := "#!/bin/sh\nwhile case $1 in -*) ;; *) false ;; esac; do shift; done\nto=$1\nshift\ncase $to in\n"
	for _, h := range n.Hosts {
		quoted := make([]string, 0, 16)
		for _, word := range h.Command("sh", "-c") {
			quoted = append(quoted, "'"+word+"'")
		}
		script += fmt.Sprintf("%s) exec %s \"$*\" ;;\n", h.Address, strings.Join(quoted, " "))
	}
	script += "esac\necho \"no such host: $to\" >&2\nexit 1\n"
	path = filepath.Join(dir, "agent")
	return path, os.WriteFile(path, []byte(script), 0o755)
}
