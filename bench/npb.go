package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// kernels of NPB that run on any power of two, or (bt, sp) on squares.
var kernels = []string{"bt", "cg", "ep", "ft", "is", "lu", "mg", "sp"}

var rightResult = regexp.MustCompile(`(?i)verification *(=|:)? *success`)

// hasNPB reports whether the parameter NPB names sources, and otherwise that rows are left out.
func (b *bench) hasNPB() bool {
	if b.param("NPB") == "" {
		b.note("left out: the NAS Parallel Benchmarks; NPB=dir with NPB3.x-MPI " +
			"(https://www.nas.nasa.gov/software/npb.html)")
		return false
	}
	return true
}

// buildNPB builds programs NAME.CLASS.RANKS and returns their folder. What does not build is not
// there. The sources are no part of this project.
func (b *bench) buildNPB(mpi string, programs ...string) string {
	if b.param("NPB") == "" {
		fail("NPB names no folder: it needs NPB3.x-MPI (https://www.nas.nasa.gov/software/npb.html)")
	}
	return b.buildNPBOf(get(filepath.Abs(b.param("NPB"))), mpi, programs...)
}

func (b *bench) buildNPBOf(sources, mpi string, programs ...string) string {
	dir := get(os.MkdirTemp(b.dir, "npb-"))
	words := []string{filepath.Join(b.root, "bench", "npb-build.sh"), sources, dir, mpi}
	if text := strings.TrimSpace(get(b.said(append(words, programs...)...))); text != "" {
		b.note("%s", text)
	}
	return filepath.Join(dir, "bin")
}

// verified runs a job under cairn run --verify: every call of the trace must equal the reference
// log.
func (b *bench) verified(name string, correct *regexp.Regexp, yield string, job []string) {
	run := []string{"bin/cairn", "run", "--verify", "-o", b.fresh("out"), "--"}
	text, err := b.said(slices.Concat([]string{"env", "LD_PRELOAD=" + yield}, limited, run, job)...)
	agrees := agreement.FindString(text)
	switch {
	case err != nil:
		b.check(name, false, err.Error())
	case agrees == "":
		b.check(name, false, "there is no comparison with the reference log")
	default:
		b.check(name, correct == nil || correct.MatchString(text), agrees)
	}
}

var agreement = regexp.MustCompile(`all [0-9]* calls on [0-9]* ranks agree.*`)

func verifyNPB(b *bench) {
	yield := b.yield()
	for _, mpi := range b.words("MPIS") {
		var programs []string
		for _, kernel := range append([]string{"dt"}, kernels...) {
			programs = append(programs, kernel+"."+b.param("CLASS")+"."+b.param("RANKS"))
		}
		folder := b.buildNPB(mpi, programs...)
		for _, program := range programs {
			job := mpirun(mpi, b.number("RANKS"), filepath.Join(folder, program))
			if strings.HasPrefix(program, "dt.") { // its graph says how many ranks: five in class S
				job = mpirun(mpi, 5, filepath.Join(folder, program), "BH")
			}
			b.verified(mpi+" "+program, rightResult, yield, job)
		}
	}
}

func verifyOSU(b *bench) {
	if b.param("OSU") == "" {
		fail("OSU names no folder: it needs the sources of the OSU micro-benchmarks")
	}
	yield := b.yield()
	for _, mpi := range b.words("MPIS") {
		built := b.run(filepath.Join(b.root, "bench", "osu-build.sh"), get(filepath.Abs(b.param("OSU"))),
			b.path("osu."+mpi), mpi)
		for program := range strings.FieldsSeq(built) {
			ranks, words := 4, []string{program, "-i", "10", "-x", "2"}
			if strings.Contains(program, "/pt2pt/") || strings.Contains(program, "/one-sided/") {
				ranks = 2
			}
			if strings.Contains(program, "/startup/") {
				words = words[:1]
			}
			b.verified(mpi+" "+filepath.Base(program), nil, yield, mpirun(mpi, ranks, words...))
		}
	}
}

// inputs of NPB with a few iterations: the pattern is the same in all of them.
var inputs = map[string]string{
	"inputbt.data": "4\n0.0008d0\n24 24 24\n",
	"inputsp.data": "4\n0.0015d0\n36 36 36\n",
	"inputlu.data": "c\nc\n1 4\nc\nc\n4\nc\nc\n1.5e-3\nc\nc\n1.2\nc\nc\n" +
		"1e-8 1e-8 1e-8 1e-8 1e-8\nc\nc\n33 33 33\n",
	"mg.input": "5\n32 32 32\n4\n0 0 0 0 0 0 0 0\n",
}

// inThePaper is table 7 of the paper, by kernel and ranks.
var inThePaper = map[string]string{
	"bt 9": "3×3 6-p stencil", "bt 16": "4×4 6-p stencil", "bt 36": "6×6 6-p stencil",
	"bt 64": "8×8 6-p stencil",
	"sp 9":  "3×3 6-p stencil", "sp 16": "4×4 6-p stencil", "sp 36": "6×6 6-p stencil",
	"sp 64": "8×8 6-p stencil",
	"lu 8":  "4×2 grid", "lu 16": "4×4 grid", "lu 32": "8×4 grid", "lu 64": "8×8 grid",
	"cg 8": "4×2 grid = CG stencil", "cg 16": "CG stencil", "cg 32": "CG stencil",
	"cg 64": "CG stencil",
	"mg 8":  "2×2×2 grid", "mg 16": "2×2×2×2 grid = 4×4 torus",
	"mg 32": "2×2×2×2×2 grid = 4×4×2 torus",
	"mg 64": "2×2×2×2×2×2 grid = 4×4×4 torus",
}

// topologies prints the table of docs/topology.md.
func topologies(b *bench) {
	if b.param("NPB") == "" {
		fail("NPB names no folder: it needs NPB3.4-MPI (https://www.nas.nasa.gov/software/npb.html)")
	}
	b.run(filepath.Join(b.root, "bench", "npb-permute.sh"), get(filepath.Abs(b.param("NPB"))),
		b.path("sources"))
	built := b.buildNPBOf(b.path("sources"), "openmpi", "bt.W.64", "sp.W.64", "lu.W.64", "cg.S.64",
		"mg.S.64", "mg.W.64")
	b.note("| program | ranks | paper | Cairn | the same graph | bytes beside it | permuted ranks |" +
		"\n|---|---|---|---|---|---|---|")
	for _, kernel := range []string{"bt", "sp", "lu", "cg", "mg"} {
		sizes, class := []string{"4", "8", "16", "32", "64"}, "W"
		switch kernel {
		case "bt", "sp":
			sizes = []string{"4", "9", "16", "36", "64"}
		case "cg", "mg":
			class = "S"
		}
		if b.given("RANKS") {
			sizes = b.words("RANKS")
		}
		for _, ranks := range sizes {
			if kernel == "mg" && ranks == "64" { // S has levels on which most ranks do nothing
				class = "W"
			}
			program := filepath.Join(built, kernel+"."+class+".64")
			plain, permuted := b.topology(program, ranks, nil),
				b.topology(program, ranks, []string{"CAIRN_PERMUTE=1"})
			paper := inThePaper[kernel+" "+ranks]
			if paper == "" {
				paper = "–"
			}
			b.note("| %s.%s | %s | %s | %s | %s | %.1f%% | %s |", strings.ToUpper(kernel), class, ranks,
				paper, plain.Topology,
				strings.Join(plain.Aliases, "; "), 100*plain.LostBytes, permuted.Topology)
		}
	}
}

// A found topology is what cairn clusters says of a run.
type found struct {
	Topology  string
	Aliases   []string
	LostBytes float64 `json:"lost_bytes"`
}

func (b *bench) topology(program, ranks string, environment []string) found {
	dir := b.fresh("work")
	must(os.Mkdir(dir, 0o755))
	for name, text := range inputs {
		if name != "mg.input" || !strings.HasSuffix(program, "mg.W.64") {
			b.write(filepath.Join("work", name), text)
		}
	}
	job := mpirun("openmpi", get(strconv.Atoi(ranks)), program)
	trace, err := b.trace("", append([]string{"env", "-C", dir}, append(environment, job...)...))
	must(err)
	var clusters struct{ Topology struct{ Run found } }
	must(json.Unmarshal([]byte(b.run("bin/cairn", "clusters", trace, "--no-times", "--json")),
		&clusters))
	return clusters.Topology.Run
}
