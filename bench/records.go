package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// tracerBytes measures raw records, what a call writes before anything is compressed. It is what a
// call costs in caches, and how long a process runs until it needs the core.
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

// records returns the bytes of raw records of a job, and how many calls they are. A limit of the
// address space keeps the core from being loaded, which would use buffers again, so that all of
// them remain as files. cairn run removes these, but not what is linked to them.
func (b *bench) records(command, yield string) (bytes, calls float64) {
	spool, links := b.path("out/tracer/spool"), b.fresh("records")
	job := fmt.Sprintf("ulimit -v 4194304 && { %s; } && cp -rl %s %s", command, spool, links)
	trace := get(b.trace("", []string{"sh", "-c", job}, "LD_PRELOAD="+yield))
	for _, path := range get(filepath.Glob(filepath.Join(links, "*", "*.seg"))) {
		bytes += float64(get(usedBytes(path)))
	}
	return bytes, b.info(trace).Calls
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
	if !strings.HasPrefix(string(header), "CAIRNSEG") ||
		!strings.HasPrefix(filepath.Base(path), "first-") {
		return 0, fmt.Errorf("%s is no record buffer of the shim's", path)
	}
	return binary.NativeEndian.Uint64(header[used:]), nil
}
