package untraced

import (
	"debug/elf"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// A file is what an executable says of itself.
type file struct {
	elf     bool
	static  bool
	foreign string // for which machine it is; "": for this one
	loader  string // its dynamic linker
	mpi     string // the MPI library that it is linked with
	rights  string // why the system starts it with other rights than its caller has; "": it does not
}

// mpiLibrary matches the names of MPI libraries.
var mpiLibrary = regexp.MustCompile(`^lib(mpi|pmpi|mpich|mpi_[a-z]+)\.so(\.|$)`)

// ownMachine is that of the tracer's libraries.
var ownMachine = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[runtime.GOARCH]

// inspect reads an executable.
func inspect(path string) (b file) {
	b.rights = rightsOf(path)
	f, err := elf.Open(path)
	if err != nil {
		return b
	}
	defer f.Close()
	b.elf, b.static = true, true
	if f.Machine != ownMachine || f.Class != elf.ELFCLASS64 {
		b.foreign = strings.TrimPrefix(f.Machine.String(), "EM_")
		if f.Class == elf.ELFCLASS32 {
			b.foreign += ", 32 bit"
		}
	}
	for _, p := range f.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		b.static = false
		name := make([]byte, min(p.Filesz, 4096))
		if _, err := p.ReadAt(name, 0); err == nil {
			b.loader = strings.TrimRight(string(name), "\x00")
		}
	}
	libraries, _ := f.ImportedLibraries()
	for _, library := range libraries {
		if mpiLibrary.MatchString(library) {
			b.mpi = library
		}
	}
	return b
}

// rightsOf returns the rights that a file gives to a process.
func rightsOf(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	size, err := unix.Getxattr(path, "security.capability", nil)
	switch {
	case info.Mode()&fs.ModeSetuid != 0:
		return "is setuid"
	case info.Mode()&fs.ModeSetgid != 0:
		return "is setgid"
	case err == nil && size > 0:
		return "has file capabilities"
	}
	return ""
}

// starters start other programs and are not MPI programs themselves.
var starters = regexp.MustCompile(`^(mpirun|mpiexec|orterun|orted|prterun|prted|prun|hydra|srun|slurmstepd|flux|env|sh|bash|dash|zsh|timeout|nice|nohup|taskset|numactl|setpriv|unshare|nsenter|chroot|sudo|su|time|sleep|strace|ssh|rsh)([-._0-9].*)?$`)

// starts reports whether an executable is known to start other programs.
func starts(path string) bool {
	if starters.MatchString(filepath.Base(path)) {
		return true
	}
	target, err := filepath.EvalSymlinks(path)
	return err == nil && starters.MatchString(filepath.Base(target))
}
