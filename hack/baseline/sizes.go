package main

import (
	"debug/elf"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// sizes measures what does not depend on chance: the code size of each built file, and the bytes of
// traces.
func (b *bench) sizes() error {
	for _, pattern := range []string{"bin/*", "lib/*"} {
		built, err := filepath.Glob(filepath.Join(b.tree.folder, pattern))
		if err != nil {
			return err
		}
		for _, path := range built {
			if info, err := os.Stat(path); err != nil || info.IsDir() { // bin/arm64
				continue
			}
			text, err := textBytes(path)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			b.tree.add("Built/file="+filepath.Base(path), value{text, "text-bytes"})
		}
	}
	if err := b.makeTraces(); err != nil {
		return err
	}
	for _, path := range b.traces {
		if err := b.addTrace("simulated", path); err != nil {
			return err
		}
	}
	return filepath.WalkDir(b.tree.folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "out" || strings.HasPrefix(entry.Name(), ".") && path != b.tree.folder):
			return filepath.SkipDir
		case filepath.Ext(path) == ".cairn" && filepath.Base(filepath.Dir(path)) == "testdata":
			return b.addTrace("testdata", path)
		}
		return nil
	})
}

func (b *bench) addTrace(kind, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	name := strings.TrimSuffix(filepath.Base(path), ".cairn")
	b.tree.add("Trace/kind="+kind+"/trace="+name, value{float64(info.Size()), "trace-bytes"})
	return nil
}

// textBytes returns the size of the machine code of an ELF file, without data, symbols and the
// version that is linked in.
func textBytes(path string) (float64, error) {
	file, err := elf.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	text := file.Section(".text")
	if text == nil {
		return 0, fmt.Errorf("it has no section .text")
	}
	return float64(text.Size), nil
}
