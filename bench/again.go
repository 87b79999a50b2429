package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Targets of the time of a skeleton: one of the two.
const (
	maxSkeletonOff        = 0.3 // of the program's time
	maxSkeletonSecondsOff = 0.3
)

var withSkeleton = strings.Fields("attributes balanced collectives datatypes farm imbalance io " +
	"master_worker persistent phases requests rma ring split stencil sweep threads topology")

// npbOf4 builds NPB class S on 4 ranks and returns the paths of the programs.
func (b *bench) npbOf4(mpi string) []string {
	if !b.hasNPB() {
		return nil
	}
	var programs []string
	for _, kernel := range kernels {
		programs = append(programs, kernel+".S.4")
	}
	return get(filepath.Glob(filepath.Join(b.buildNPB(mpi, programs...), "*.S.4")))
}

// skeletons traces programs on 4 ranks and writes them as skeletons, which are compiled with all
// warnings as errors, run and traced again. With fewer cores than ranks, computations sleep.
func skeletons(b *bench) {
	must(os.Setenv("SKELETON_SLEEP", "1"))
	for _, mpi := range b.words("MPIS") {
		var programs []string
		names := withSkeleton
		if b.given("PROGRAMS") {
			names = b.words("PROGRAMS")
		}
		for _, name := range names {
			programs = append(programs, example(mpi, name))
		}
		for _, program := range append(programs, b.npbOf4(mpi)...) {
			b.skeleton(mpi, program)
		}
	}
}

func (b *bench) skeleton(mpi, program string) {
	name := mpi + " " + filepath.Base(program)
	trace, err := b.trace("--call-sites path", mpirun(mpi, 4, program))
	if err != nil {
		b.check(name, false, err.Error())
		return
	}
	original, folder := b.path("original.cairn"), b.fresh("skeleton")
	must(os.Rename(trace, original))
	if said, err := b.said("bin/cairn", "skeleton", original, "-o", folder); err != nil {
		_, why, _ := strings.Cut(said, "made of this trace: ")
		b.note("%s: none: %s", name, lastLine(why))
		return
	}
	made := filepath.Join(folder, "skeleton")
	_, err = b.said("make", "-s", "-C", folder, "CC=mpicc."+mpi,
		"CFLAGS=-std=c11 -O2 -Wall -Wextra -Werror")
	if err == nil {
		trace, err = b.trace("", mpirun(mpi, 4, made))
	}
	if err == nil {
		_, err = b.said("bin/cairn", "skeleton", original, "--compare", trace)
	}
	if err != nil {
		b.check(name, false, err.Error())
		return
	}
	seconds := func(program string) float64 {
		begun := time.Now()
		get(b.said(slices.Concat(limited, mpirun(mpi, 4, program))...))
		return time.Since(begun).Seconds()
	}
	native, remade := seconds(program), seconds(made)
	lines := bytes.Count(get(os.ReadFile(filepath.Join(folder, "skeleton.c"))), []byte("\n"))
	b.row(name, val("right", 1).atLeast(1), val("lines of C", float64(lines)),
		val("program, s", native), val("skeleton, s", remade),
		val("off, s", remade-native).within(max(maxSkeletonSecondsOff, maxSkeletonOff*native)))
}

var sameCalls, refusal = regexp.MustCompile(`made the same [0-9]+ calls.*`),
	regexp.MustCompile(`MPI_Abort: it ends the job.*`)

// replayCalls executes examples again, traced, and compares call by call. Those that must be
// refused are recognized by their message.
func replayCalls(b *bench) {
	for _, mpi := range b.words("MPIS") {
		programs := get(filepath.Glob(filepath.Join(b.folder, example(mpi, "*"))))
		for _, program := range append(programs, b.npbOf4(mpi)...) {
			expected, words := sameCalls, []string{program}
			if filepath.Base(program) == "early-exit" {
				expected, words = refusal, []string{program, "--abort", "3"}
			}
			trace, err := b.trace("", mpirun(mpi, 4, words...))
			if exit := new(exec.ExitError); !errors.As(err, &exit) { // what fails has a trace, too
				must(err)
			}
			replay := []string{"bin/cairn", "replay", trace, "--speed", "max", "--check", "--"}
			said, _ := b.said(slices.Concat(limited, replay, mpirun(mpi, 4))...)
			name := mpi + " " + filepath.Base(program)
			if found := expected.FindString(said); found != "" {
				b.check(name, true, found)
			} else {
				b.check(name, false, fmt.Sprintf("it says: %s", lastLine(said)))
			}
		}
	}
}
