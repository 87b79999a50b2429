package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cairn-mpi/cairn/tracer/rawlayout"
)

// tracerBytes measures raw records, what a call writes before anything is compressed.
func tracerBytes(b *bench) {
	yield := b.yield()
	row := func(name, command string) {
		bytes, calls := b.records(command, yield)
		b.row(name, val("calls", calls), val("bytes", bytes), val("bytes/call", bytes/calls))
	}
	for _, mpi := range b.words("MPIS") {
		start := func(program string) string {
			return strings.Join(mpirun(mpi, b.number("RANKS"), program), " ")
		}
		for _, name := range b.words("EXAMPLES") {
			row(mpi+" "+name, start(example(mpi, name)))
		}
		if b.given("NPB") {
			var programs []string
			for _, kernel := range kernels {
				programs = append(programs, kernel+"."+b.param("CLASS")+"."+b.param("RANKS"))
			}
			folder := b.buildNPB(mpi, programs...)
			for _, program := range programs {
				row(mpi+" "+program, start(filepath.Join(folder, program)))
			}
		}
	}
	for line := range strings.Lines(b.param("PROGRAMS")) {
		name, command, _ := strings.Cut(strings.TrimSpace(line), " ")
		row(name, command)
	}
}

// records returns the bytes of raw records of a job, and how many calls they are. The job runs
// twice: without a compressor all buffers remain as files.
func (b *bench) records(command, yield string) (bytes, calls float64) {
	calls = b.info(get(b.trace("", []string{"sh", "-c", command}, "LD_PRELOAD="+yield))).Calls
	p := b.preloader(`raw {"call_sites":"caller","timing":"lossy"}`)
	for _, mpi := range []string{"openmpi", "mpich"} {
		yield += ":" + p.library(mpi, "raw")
	}
	b.run("env", "LD_PRELOAD="+yield, "sh", "-c", command)
	for _, path := range get(filepath.Glob(p.path("root/spool/*/*.seg"))) {
		bytes += float64(get(usedBytes(path)))
	}
	return bytes, calls
}

// usedBytes returns the bytes of records in the buffers of a file of the shim's, which has one or
// several of the same size (docs/decisions/0001-seams.md).
func usedBytes(path string) (bytes uint64, err error) {
	const used, size = 24, 32
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	slots := int64(1)
	switch name := filepath.Base(path); {
	case strings.HasPrefix(name, "ring-"):
		slots = rawlayout.RingBuffers
	case strings.HasPrefix(name, "copies-"):
		slots = rawlayout.Copies
	}
	header := make([]byte, size)
	for slot := range slots {
		if _, err := file.ReadAt(header, slot*(info.Size()/slots)); err != nil {
			return 0, fmt.Errorf("%s: %w", path, err)
		}
		if strings.HasPrefix(string(header), rawlayout.BufferMagic) {
			bytes += binary.NativeEndian.Uint64(header[used:])
		}
	}
	return bytes, nil
}
