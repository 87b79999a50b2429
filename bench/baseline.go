package main

import (
	"debug/elf"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A simulation is a made-up program, by the arguments of cairn simulate that create it.
type simulation struct{ name, arguments string }

// traces are those that commands are measured on. An analysis of each takes about a second.
var traces = []simulation{
	{"stencil", "--pattern stencil2d --ranks 256 --iterations 200 --noise-percent 10 " +
		"--slow-rank 3 --slow-percent 30"},
	{"irregular", "--pattern irregular --ranks 64 --iterations 50 --noise-percent 10"},
	{"random", "--pattern random --ranks 16 --iterations 1500 --noise-percent 10"},
	{"sweep", "--pattern wavefront --ranks 64 --iterations 40 --noise-percent 10 --timing lossless"},
}

// jobs are those whose shards are merged.
var jobs = []simulation{
	{"stencil", "--no-replay --pattern stencil2d --ranks 4096 --call-sites none"},
	{"irregular", "--no-replay --pattern irregular --ranks 1024 --call-sites none"},
}

// baselineSizes measures what does not depend on chance: the code size of each built file, and the
// bytes of traces.
func baselineSizes(b *bench) {
	for _, pattern := range []string{"bin/*", "lib/*"} {
		for _, path := range get(filepath.Glob(filepath.Join(b.folder, pattern))) {
			if !get(os.Stat(path)).IsDir() { // bin/arm64
				b.row("file "+filepath.Base(path), val("text, bytes", get(textBytes(path))).exact())
			}
		}
	}
	for _, s := range traces {
		trace := b.simulate(s.arguments, lossy...)
		b.row("simulated "+s.name, val("bytes", fileBytes(trace)).exact())
	}
	must(filepath.WalkDir(b.folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "out" || strings.HasPrefix(entry.Name(), ".") &&
			path != b.folder):
			return filepath.SkipDir
		case filepath.Ext(path) == ".cairn" && filepath.Base(filepath.Dir(path)) == "testdata":
			b.row("testdata "+entry.Name(), val("bytes", fileBytes(path)).exact())
		}
		return nil
	}))
}

// textBytes returns the size of the machine code of an ELF file, without data, symbols and the
// version that is linked in.
func textBytes(path string) (float64, error) {
	file, err := elf.Open(path)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	defer file.Close()
	text := file.Section(".text")
	if text == nil {
		return 0, fmt.Errorf("%s has no section .text", path)
	}
	return float64(text.Size), nil
}

// baselineCommands measures each command once on each trace, and a merge of each job.
func baselineCommands(b *bench) {
	row := func(name string, u usage) { b.row(name, val("CPU, s", u.cpu), val("peak, MiB", u.mib)) }
	for _, s := range traces {
		trace := b.simulate(s.arguments, lossy...)
		for _, command := range []string{"analyze -o %o", "clusters", "program", "compare %t"} {
			name, more, _ := strings.Cut(command, " ")
			arguments := strings.Fields(strings.NewReplacer("%t", trace, "%o",
				b.fresh("report")).Replace(more))
			row(name+" "+s.name, b.used(append([]string{"bin/cairn", name, trace}, arguments...)...))
		}
	}
	for _, s := range jobs {
		m := b.mergeJob(b.simulateJob(s.arguments), 256)
		row("merge "+s.name, usage{cpu: m.cpu, mib: m.mib})
	}
}

func baselineInstructions(b *bench) {
	p := b.preloader(siteConfigs)
	b.instructions(p, p.names)
}
