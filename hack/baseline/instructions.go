package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// configurations of the tracer whose instructions are counted, as hack/bench-tracer.sh takes them.
const configurations = `lossy {"call_sites":"none","timing":"lossy"}
caller {"call_sites":"caller","timing":"lossy"}
path {"call_sites":"path","timing":"lossy"}`

// callsPerRound is passed to hack/bench-tracer.sh, which runs a tenth and half of these calls. The
// difference between them does not include the cost of the start. With a fifth of these calls, the
// first garbage collections of the recorder fall into one run only: two million instructions each,
// 30 a call, which come and go with any change of the heap.
const callsPerRound = "500000"

// instructions counts what the tree's tracer adds to each kind of call, under both MPIs.
func (b *bench) instructions() error {
	c := exec.Command(filepath.Join("hack", "bench-tracer.sh"), "1", callsPerRound)
	c.Env = append(os.Environ(), "LIB="+filepath.Join(b.tree.folder, "lib"), "INSTRUCTIONS=only", "CONFIGS="+configurations)
	c.Stderr = os.Stderr
	table, err := c.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", c, err)
	}
	return b.addInstructions(strings.NewReader(string(table)))
}

// addInstructions parses the table that hack/bench-tracer.sh prints: MPI, call, tracing,
// instructions of the calling thread and of all threads. Rows of wrappers that trace nothing do not
// depend on the tree, and are left out.
func (b *bench) addInstructions(table io.Reader) error {
	rows := 0
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) != 5 || f[2] == "noop" || f[2] == "stamps" {
			continue
		}
		calling, err1 := strconv.ParseFloat(f[3], 64)
		all, err2 := strconv.ParseFloat(f[4], 64)
		if err1 != nil || err2 != nil { // the head of the table
			continue
		}
		rows++
		b.tree.add(fmt.Sprintf("Call/mpi=%s/call=%s/tracing=%s", f[0], f[1], f[2]),
			value{calling, "calling-instructions/op"}, value{all, "instructions/op"})
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if rows == 0 {
		return fmt.Errorf("no instructions were counted: install perf with hardware counters, or qemu-user (hack/install.sh)")
	}
	return nil
}
