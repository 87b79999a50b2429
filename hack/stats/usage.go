package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// A usage is the resource usage of a command.
type usage struct {
	wall, cpu float64 // seconds
	memory    float64 // KiB, at its peak
	files     float64 // bytes of its temporary files, at their peak
}

// newUsageCommand runs a command and prints its usage as a line: seconds of wall-clock time and of
// CPU, KiB of memory and bytes of temporary files at their peaks. The command's output is
// discarded.
func newUsageCommand() *cobra.Command {
	var to, files string
	c := &cobra.Command{
		Use: "usage COMMAND…", Short: "What a command takes", Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, command []string) error {
			u, err := measure(command, files)
			if err != nil {
				return err
			}
			out := os.Stdout
			if to != "" {
				if out, err = os.OpenFile(to, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err != nil {
					return err
				}
				defer out.Close()
			}
			_, err = fmt.Fprintf(out, "%.3f %.3f %.0f %.0f\n", u.wall, u.cpu, u.memory, u.files)
			return err
		},
	}
	c.Flags().SetInterspersed(false) // flags after the command are its own
	c.Flags().StringVarP(&to, "output", "o", "", "file to append the line to")
	c.Flags().StringVar(&files, "files", "", "part of the names of its temporary files; none are counted unless given")
	return c
}

// measure runs a command.
func measure(command []string, files string) (usage, error) {
	var said bytes.Buffer
	c := exec.Command(command[0], command[1:]...)
	c.Stderr = &said
	begun := time.Now()
	if err := c.Start(); err != nil {
		return usage{}, err
	}
	ended, largest := make(chan struct{}), make(chan int64)
	go func() { largest <- largestFiles(c.Process.Pid, files, ended) }()
	err := c.Wait()
	wall := time.Since(begun)
	close(ended)
	spooled := <-largest
	if err != nil {
		return usage{}, fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, strings.TrimSpace(said.String()))
	}
	used := c.ProcessState.SysUsage().(*syscall.Rusage)
	cpu := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	return usage{wall.Seconds(), cpu.Seconds(), float64(used.Maxrss), float64(spooled)}, nil
}

// largestFiles returns the largest total size of the files that a process has open whose names
// contain name, including removed files. It samples five times per second until ended is closed.
func largestFiles(pid int, name string, ended <-chan struct{}) (largest int64) {
	if name == "" {
		return 0
	}
	every := time.NewTicker(200 * time.Millisecond)
	defer every.Stop()
	for {
		select {
		case <-ended:
			return largest
		case <-every.C:
			largest = max(largest, openFiles(pid, name))
		}
	}
}

func openFiles(pid int, name string) (size int64) {
	all, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, fd := range all {
		if target, err := os.Readlink(fd); err != nil || !strings.Contains(target, name) {
			continue
		}
		if info, err := os.Stat(fd); err == nil {
			size += info.Size()
		}
	}
	return size
}
