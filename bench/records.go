package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
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

// usedBytes returns the bytes of records in a buffer of the shim's (docs/decisions/0001-seams.md).
func usedBytes(path string) (uint64, error) {
	const used, size = 24, 32
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	header := make([]byte, size)
	if _, err := io.ReadFull(file, header); err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	if !strings.HasPrefix(string(header), "CAIRNSEG") {
		return 0, fmt.Errorf("%s is no record buffer of the shim's", path)
	}
	return binary.NativeEndian.Uint64(header[used:]), nil
}
