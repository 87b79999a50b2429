package symbols

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cairn-mpi/cairn/internal/plainfile"
)

// stored is the JSON form of a Table. Numbers are in flat lists and relative to the previous entry,
// so most of them have one or two digits.
type stored struct {
	Format    int      `json:"format"`
	BuildID   string   `json:"build_id"`
	Module    string   `json:"module"`
	Functions []string `json:"functions"`
	Ranges    []uint64 `json:"ranges"` // per function: distance from the end of the one before, length
	Files     []string `json:"files"`
	// per row: distance from the row before, file (−1: none), distance from the line before
	Lines []int64 `json:"lines"`
	// inlined code; all three are omitted if there is none
	Inlined []string `json:"inlined,omitempty"` // names of inlined functions
	// per instance: name, how far back its outer one is (0: none), file and line of the call as in
	// Lines, distance of its start from the start of the one before
	Instances []int64 `json:"instances,omitempty"`
	Stretches []int64 `json:"stretches,omitempty"` // per stretch: distance from the one before, 1 + its instance
}

const instanceNumbers = 5

const format = 1

// MaxFileBytes is the maximum size of a table's file.
const MaxFileBytes = 128 << 20

// FileName returns the name of the table's file for a binary with this build id. Binaries without
// one are named by their path.
func FileName(buildID string) string {
	if _, err := hex.DecodeString(buildID); err != nil || buildID == "" {
		sum := sha256.Sum256([]byte(buildID))
		return "path-" + hex.EncodeToString(sum[:12]) + ".json"
	}
	return buildID + ".json"
}

// Resolve extracts the symbols of a binary into dir, unless they are there already, and returns the
// file's path. A binary without symbols gets an empty table, so that nobody tries again.
func Resolve(binary, dir string) (string, error) {
	id, err := buildIDOf(binary)
	if err != nil {
		return "", err
	}
	if id == "" {
		id = binary
	}
	name := filepath.Join(dir, FileName(id))
	if exists(name) {
		return name, nil
	}
	t, err := Extract(binary)
	if err != nil && !errors.Is(err, ErrNoSymbols) {
		return "", err
	}
	return name, t.writeFile(name)
}

// Write writes the content of the table's file.
func (t *Table) Write(w io.Writer) error {
	raw, err := json.Marshal(t.store())
	if err != nil {
		return err
	}
	if len(raw) > MaxFileBytes {
		raw, err = json.Marshal((&Table{BuildID: t.BuildID, Module: t.Module, functions: t.functions}).store())
		if err != nil {
			return err
		}
		if len(raw) > MaxFileBytes {
			return fmt.Errorf("%s: the symbols take more than %d MiB", t.Module, MaxFileBytes>>20)
		}
	}
	_, err = w.Write(raw)
	return err
}

// writeFile writes the table to a file atomically.
func (t *Table) writeFile(name string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), ".symbols-")
	if err != nil {
		return err
	}
	err = t.Write(tmp)
	if err == nil {
		// the shipper may run as another user
		err = tmp.Chmod(0o644)
	}
	if e := tmp.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return err
}

// Read reads the table of a build id from dir.
func Read(dir, buildID string) (*Table, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return ReadIn(root, buildID)
}

// ReadIn reads the table of a build id from a directory that others may write to. It refuses
// anything but a regular file, and its errors never quote the content.
func ReadIn(dir *os.Root, buildID string) (*Table, error) {
	name := FileName(buildID)
	raw, err := plainfile.Read(dir, name, MaxFileBytes)
	if err != nil {
		return nil, err
	}
	var s stored
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, fmt.Errorf("%s: %w", name, errDamaged)
	}
	t, err := s.table()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

func (t *Table) store() stored {
	s := stored{Format: format, BuildID: t.BuildID, Module: t.Module, Files: t.files}
	end := uint64(0)
	for _, f := range t.functions {
		s.Functions = append(s.Functions, f.name)
		s.Ranges = append(s.Ranges, f.start-end, f.end-f.start)
		end = f.end
	}
	var before line
	for _, l := range t.lines {
		s.Lines = append(s.Lines, int64(l.offset-before.offset), int64(l.file), int64(l.line)-int64(before.line))
		before = l
	}
	s.storeInlined(t)
	return s
}

func (s *stored) storeInlined(t *Table) {
	numbers := map[string]int64{}
	var before instance
	for i, one := range t.instances {
		name, known := numbers[one.name]
		if !known {
			name = int64(len(s.Inlined))
			numbers[one.name] = name
			s.Inlined = append(s.Inlined, one.name)
		}
		back := int64(0)
		if one.within >= 0 {
			back = int64(i) - int64(one.within)
		}
		s.Instances = append(s.Instances, name, back, int64(one.file), int64(one.line)-int64(before.line), int64(one.start)-int64(before.start))
		before = one
	}
	at := uint64(0)
	for _, x := range t.stretches {
		s.Stretches = append(s.Stretches, int64(x.offset-at), int64(x.in)+1)
		at = x.offset
	}
}

var errDamaged = errors.New("damaged table of symbols")

func (s *stored) table() (*Table, error) {
	if s.Format != format {
		return nil, fmt.Errorf("format %d of a table of symbols is not known", s.Format)
	}
	if len(s.Ranges) != 2*len(s.Functions) || len(s.Lines)%3 != 0 {
		return nil, errDamaged
	}
	t := &Table{BuildID: s.BuildID, Module: s.Module, files: s.Files}
	end := uint64(0)
	for i, name := range s.Functions {
		start := end + s.Ranges[2*i]
		end = start + s.Ranges[2*i+1]
		if start > end {
			return nil, errDamaged
		}
		t.functions = append(t.functions, function{start, end, name})
	}
	var before line
	for i := 0; i < len(s.Lines); i += 3 {
		l := line{before.offset + uint64(s.Lines[i]), int32(s.Lines[i+1]), before.line + int32(s.Lines[i+2])}
		if s.Lines[i] < 0 || s.Lines[i+1] < -1 || s.Lines[i+1] >= int64(len(s.Files)) {
			return nil, errDamaged
		}
		t.lines = append(t.lines, l)
		before = l
	}
	return t, s.readInlined(t)
}

func (s *stored) readInlined(t *Table) error {
	if len(s.Instances)%instanceNumbers != 0 || len(s.Stretches)%2 != 0 {
		return errDamaged
	}
	var before instance
	for i := range len(s.Instances) / instanceNumbers {
		n := s.Instances[instanceNumbers*i:]
		name, back, file := n[0], n[1], n[2]
		if name < 0 || name >= int64(len(s.Inlined)) || back < 0 || back > int64(i) || file < -1 || file >= int64(len(s.Files)) {
			return errDamaged
		}
		one := instance{name: s.Inlined[name], within: -1, file: int32(file), line: before.line + int32(n[3]), start: before.start + uint64(n[4])}
		if back > 0 {
			one.within = int32(int64(i) - back)
		}
		t.instances = append(t.instances, one)
		before = one
	}
	at := uint64(0)
	for i := 0; i < len(s.Stretches); i += 2 {
		if s.Stretches[i] < 0 || s.Stretches[i+1] < 0 || s.Stretches[i+1] > int64(len(t.instances)) {
			return errDamaged
		}
		at += uint64(s.Stretches[i])
		t.stretches = append(t.stretches, stretch{at, int32(s.Stretches[i+1]) - 1})
	}
	return nil
}
