package network

import (
	"fmt"
	"io"
	"os"
	"os/exec"
)

// Isolate gives a host PID and mount namespaces of its own, in which the folders of private stand
// in the place of others. The first process there lives until the network is closed.
func (h *Host) Isolate(private map[string]string) error {
	mounts := ""
	arguments := []string{"sh"}
	for place, folder := range private {
		mounts += fmt.Sprintf(`mount --bind "$%d" "$%d" && `, len(arguments), len(arguments)+1)
		arguments = append(arguments, folder, place)
	}
	command := append([]string{
		"nsenter", h.file("net", h.network), h.file("uts", h.name),
		"unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c",
		mounts + `mount -t sysfs sysfs /sys && echo $(exec readlink /proc/self/ns/pid) && read end`,
	}, arguments...)
	h.first = exec.Command(command[0], command[1:]...)
	var err error
	if h.end, err = h.first.StdinPipe(); err != nil {
		return err
	}
	out, err := h.first.StdoutPipe()
	if err != nil {
		return err
	}
	if err := h.first.Start(); err != nil {
		return err
	}
	if n, _ := io.ReadAtLeast(out, make([]byte, 16), 1); n == 0 {
		return fmt.Errorf("host %s: no namespaces", h.Name)
	}
	return nil
}

// inside returns the beginning of commands on an isolated host.
func (h *Host) inside() []string {
	// unshare, of which nsenter becomes the process, has one child: the first process of the host
	child := fmt.Sprintf("$(cat /proc/%d/task/%[1]d/children)", h.first.Process.Pid)
	return []string{"sh", "-c", `exec nsenter --target ` + child + ` --net --uts --mount --pid -- "$@"`, "sh"}
}

// KillAll ends all processes of an isolated host except for its first one, as a batch system does
// at the end of a step.
func (h *Host) KillAll() {
	command := append(h.inside(), "sh", "-c", "kill -KILL -1")
	_ = exec.Command(command[0], command[1:]...).Run() // it ends itself, too
}

func (h *Host) close() {
	if h.first != nil {
		h.end.Close()
		_ = h.first.Wait()
		_ = os.RemoveAll(h.memory)
	}
	h.network.Close()
	h.name.Close()
}
