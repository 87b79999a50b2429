package untraced

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracerroot"
)

// A process is what was seen of a process of the command.
type process struct {
	name     string // its executable, or its first argument where that cannot be read
	file     file
	loaded   bool     // the tracer's library is in it
	mpi      string   // the MPI library in it
	known    bool     // the two are: its mappings could be read, and it had been linked
	given    bool     // it was started with the tracer's LD_PRELOAD
	cleared  bool     // it was started without that
	preload  string   // what it had instead
	secure   bool     // the system started it with other rights than its caller has
	hidden   []string // folders of the tracer that are not visible in its root
	readOnly string   // the tracer's folder for records, if it is mounted read-only there
}

// traced reports whether the tracer can work in the process.
func (p *process) traced() bool { return p.loaded && p.readOnly == "" }

// executable returns the name of a process's executable, and a path to it, which may be in another
// root. Of another user's process it is what the first argument names. "": it has ended.
func executable(pid int) (name, path string) {
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	path = filepath.Join(proc, "exe")
	if name, _ = os.Readlink(path); name != "" {
		return name, path
	}
	arguments, _ := os.ReadFile(filepath.Join(proc, "cmdline"))
	first, _, _ := bytes.Cut(arguments, []byte{0})
	name, _ = exec.LookPath(string(first))
	return name, name
}

// see returns what can be seen of a process. ok is false if that says nothing yet.
func (o *Observer) see(pid int, name, path string) (p process, ok bool) {
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	p.name = name
	same := func() bool { now, _ := executable(pid); return now == name } // it has executed no other program
	if p.file, ok = o.files[name]; !ok {
		if p.file = inspect(path); !same() {
			return p, false
		}
		o.files[name] = p.file
	}
	before := imageOf(proc)
	p.readMappings(proc)
	if !p.loaded {
		p.readMappings(proc) // the dynamic linker may have been at work before
	}
	after := imageOf(proc)
	if !same() || !bytes.Equal(before.vector, after.vector) || !bytes.Equal(before.environment, after.environment) {
		return p, false
	}
	p.secure = startedSecurely(after.vector)
	if len(after.vector) > 0 { // it could be read
		p.preload = variable(after.environment, "LD_PRELOAD")
		p.given = strings.Contains(p.preload, filepath.Join(o.root, "lib"))
		p.cleared = !p.given
	}
	for _, folder := range []string{o.root, o.libraries} {
		if _, err := os.Lstat(filepath.Join(proc, "root", folder)); os.IsNotExist(err) && exists(filepath.Join(proc, "root")) {
			p.hidden = append(p.hidden, folder) // it has not ended meanwhile
		}
	}
	var mount unix.Statfs_t
	spool := tracerroot.Spool(o.root)
	if unix.Statfs(filepath.Join(proc, "root", spool), &mount) == nil && mount.Flags&unix.ST_RDONLY != 0 {
		p.readOnly = spool
	}
	return p, p.known || !p.file.elf || p.file.static || p.file.foreign != "" || p.file.rights != ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// readMappings looks for libraries in the process. A process that has not come to its C library is
// not judged.
func (p *process) readMappings(proc string) {
	mappings, err := os.ReadFile(filepath.Join(proc, "maps"))
	if err != nil {
		return
	}
	for line := range bytes.Lines(mappings) {
		at := bytes.IndexByte(line, '/')
		if at < 0 {
			continue
		}
		name := strings.TrimSuffix(filepath.Base(strings.TrimSpace(string(line[at:]))), " (deleted)")
		switch {
		case slices.Contains(shims, name):
			p.loaded = true
		case mpiLibrary.MatchString(name):
			p.mpi = name
		case strings.HasPrefix(name, "libc.") || strings.HasPrefix(name, "libc-") || strings.HasPrefix(name, "ld-musl"):
			p.known = true
		}
	}
}

// An image is what a process gets when it executes a program. It has random addresses.
type image struct{ environment, vector []byte }

func imageOf(proc string) (i image) {
	i.environment, _ = os.ReadFile(filepath.Join(proc, "environ"))
	i.vector, _ = os.ReadFile(filepath.Join(proc, "auxv"))
	return i
}

// startedSecurely reports whether the system has told the dynamic linker to ignore LD_PRELOAD.
func startedSecurely(vector []byte) bool {
	const secure, word = 23, 8 // AT_SECURE
	for ; len(vector) >= 2*word; vector = vector[2*word:] {
		if binary.NativeEndian.Uint64(vector) == secure {
			return binary.NativeEndian.Uint64(vector[word:]) != 0
		}
	}
	return false
}

func variable(environment []byte, name string) string {
	for entry := range bytes.SplitSeq(environment, []byte{0}) {
		if value, ok := bytes.CutPrefix(entry, []byte(name+"=")); ok {
			return string(value)
		}
	}
	return ""
}
