package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// simulated are the programs with traces that are measured, and the arguments that create them. An
// analysis of each takes about a second.
var simulated = []struct {
	name      string
	arguments string // of cairn simulate
}{
	{"stencil", "--pattern stencil2d --ranks 256 --iterations 200 --noise-percent 10 --slow-rank 3 --slow-percent 30"},
	{"irregular", "--pattern irregular --ranks 64 --iterations 50 --noise-percent 10"},
	{"random", "--pattern random --ranks 16 --iterations 1500 --noise-percent 10"},
	{"sweep", "--pattern wavefront --ranks 64 --iterations 40 --noise-percent 10 --timing lossless"},
}

// stored are the jobs with shards that are merged.
var stored = []struct {
	name      string
	arguments string // of cairn simulate
}{
	{"stencil", "--no-replay --pattern stencil2d --ranks 4096 --call-sites none"},
	{"irregular", "--no-replay --pattern irregular --ranks 1024 --call-sites none"},
}

// readers are the commands that are measured on each trace. %t is replaced by the trace, %o by an
// unused name.
var readers = []struct{ name, arguments string }{
	{"analyze", "%t -o %o"},
	{"clusters", "%t"},
	{"program", "%t"},
	{"compare", "%t %t"},
}

// makeTraces creates the traces and the shards once, with the tree's own simulator.
func (b *bench) makeTraces() error {
	if b.traces != nil {
		return nil
	}
	if err := os.MkdirAll(b.scratch, 0o755); err != nil {
		return err
	}
	for _, s := range simulated {
		path := filepath.Join(b.scratch, s.name+".cairn")
		arguments := append([]string{"simulate", "-o", path, "--timing", "lossy 5"}, strings.Fields(s.arguments)...)
		if err := quietly(b.cairn(arguments...)); err != nil {
			return err
		}
		b.traces = append(b.traces, path)
	}
	for _, s := range stored {
		path := filepath.Join(b.scratch, s.name+".store")
		if err := quietly(b.cairn(append([]string{"simulate", "--store", path}, strings.Fields(s.arguments)...)...)); err != nil {
			return err
		}
		b.stores = append(b.stores, path)
	}
	return nil
}

// commands measures each command once on each trace, and a merge of each store.
func (b *bench) commands() error {
	if err := b.makeTraces(); err != nil {
		return err
	}
	for _, r := range readers {
		for i, s := range simulated {
			out := filepath.Join(b.scratch, "out")
			if err := os.RemoveAll(out); err != nil {
				return err
			}
			arguments := strings.Fields(strings.NewReplacer("%t", b.traces[i], "%o", out).Replace(r.arguments))
			if err := b.measure(r.name, s.name, b.cairn(append([]string{r.name}, arguments...)...)); err != nil {
				return err
			}
		}
	}
	for i, s := range stored {
		// a merge leaves its trace in the store, so each merge gets a copy
		store := filepath.Join(b.scratch, "job")
		if err := os.RemoveAll(store); err != nil {
			return err
		}
		if err := os.CopyFS(store, os.DirFS(b.stores[i])); err != nil {
			return err
		}
		merge := b.cairn("merge", "--job", "--store", store, "--collect-timeout", "1", "--fan-in", "256")
		if err := b.measure("merge", s.name, merge); err != nil {
			return err
		}
	}
	return nil
}

// measure runs a command and records its CPU time and peak memory.
func (b *bench) measure(command, trace string, c *exec.Cmd) error {
	if err := quietly(c); err != nil {
		return err
	}
	cpu := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return fmt.Errorf("peak memory is not known here: %T", c.ProcessState.SysUsage())
	}
	b.tree.add(fmt.Sprintf("Command/command=%s/trace=%s", command, trace),
		value{cpu.Seconds(), "cpu-sec/op"}, value{float64(usage.Maxrss) * 1024, "peak-bytes"})
	return nil
}

// quietly runs a command and shows its output only if it fails.
func quietly(c *exec.Cmd) error {
	var said strings.Builder
	c.Stderr = &said
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(c.Args, " "), err, said.String())
	}
	return nil
}
