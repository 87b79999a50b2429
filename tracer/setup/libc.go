package setup

import (
	"debug/elf"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

type libcKind uint8

const (
	libcNone libcKind = iota
	libcGlibc
	libcMusl
	libcOther
)

// libc is the C library of an image.
type libc struct {
	kind         libcKind
	version      version
	architecture string // Go's name of it
}

func (l libc) String() string {
	switch l.kind {
	case libcGlibc:
		return strings.TrimSpace("glibc " + l.version.String())
	case libcMusl:
		return "musl"
	case libcOther:
		return "unknown"
	}
	return "none"
}

// interpreters are the paths of the dynamic linker, which the ABIs prescribe.
var interpreters = []string{
	"lib64/ld-linux-x86-64.so.2",
	"lib/ld-linux-aarch64.so.1",
	"lib64/ld64.so.2",
	"lib/ld-linux-riscv64-lp64d.so.1",
}

// findLibc identifies the C library from the dynamic linker and libc.so.6. The linker alone is not
// sufficient: Alpine's gcompat installs a dynamic linker with glibc's name beside musl.
func findLibc(t *tree) libc {
	for _, name := range interpreters {
		file, err := openELF(t, name, localOnly)
		if err != nil {
			continue
		}
		l := libc{kind: libcOther, architecture: architectureOf(file.File)}
		file.Close()
		for _, dir := range libraryDirectories(t) {
			if v, ok := glibcVersion(t, path.Join(dir, "libc.so.6")); ok {
				l.kind, l.version = libcGlibc, v
				return l
			}
		}
		if musl := findMusl(t); musl.kind == libcMusl {
			return musl
		}
		return l
	}
	return findMusl(t)
}

func findMusl(t *tree) libc {
	for _, name := range t.names("lib", localOnly, "ld-musl-*.so.1") {
		if file, err := openELF(t, path.Join("lib", name), localOnly); err == nil {
			defer file.Close()
			return libc{kind: libcMusl, architecture: architectureOf(file.File)}
		}
	}
	return libc{}
}

func architectureOf(file *elf.File) string {
	switch file.Machine {
	case elf.EM_X86_64:
		return "amd64"
	case elf.EM_AARCH64:
		return "arm64"
	case elf.EM_PPC64:
		return "ppc64le"
	case elf.EM_RISCV:
		return "riscv64"
	}
	return strings.ToLower(strings.TrimPrefix(file.Machine.String(), "EM_"))
}

var glibcRelease = regexp.MustCompile(`GNU C Library [^\n\x00]{0,200}release version (\d+)\.(\d+)`)

// glibcVersion finds the banner that glibc prints when it is executed.
func glibcVersion(t *tree, name string) (version, bool) {
	file, err := openELF(t, name, localOnly)
	if err != nil {
		return version{}, false
	}
	defer file.Close()
	m := firstMatch(glibcRelease, file.loaded()...)
	if m == nil {
		return version{}, false
	}
	return parseVersion(m[1] + "." + m[2])
}

// version is a major and a minor version.
type version struct{ major, minor int }

func parseVersion(s string) (version, bool) {
	major, minor, ok := strings.Cut(s, ".")
	a, err1 := strconv.Atoi(major)
	minor, _, _ = strings.Cut(minor, ".")
	b, err2 := strconv.Atoi(minor)
	if !ok || err1 != nil || err2 != nil {
		return version{}, false
	}
	return version{a, b}, true
}

func (v version) known() bool { return v != version{} }

func (v version) less(w version) bool {
	return v.major < w.major || v.major == w.major && v.minor < w.minor
}

func (v version) String() string {
	if !v.known() {
		return ""
	}
	return fmt.Sprintf("%d.%d", v.major, v.minor)
}

// needs are the requirements of the tracer's libraries.
type needs struct {
	architecture string
	glibc        version
	shims        map[ABI]bool
}

// needsOf reads the requirements from the libraries themselves.
func needsOf(dir string) (needs, error) {
	n := needs{shims: map[ABI]bool{}}
	names, _ := fs.Glob(os.DirFS(dir), "libcairn-*.so")
	for i, name := range names {
		name = filepath.Join(dir, name)
		names[i] = name
		file, err := elf.Open(name)
		if err != nil {
			return n, fmt.Errorf("the tracer's library %s is damaged: %w", name, err)
		}
		n.architecture = architectureOf(file)
		symbols, _ := file.ImportedSymbols()
		file.Close()
		for _, s := range symbols {
			if v, ok := parseVersion(strings.TrimPrefix(s.Version, "GLIBC_")); ok && strings.HasPrefix(s.Version, "GLIBC_") && n.glibc.less(v) {
				n.glibc = v
			}
		}
		for _, abi := range []ABI{OpenMPI, MPICH} {
			if filepath.Base(name) == Shim(abi) {
				n.shims[abi] = true
			}
		}
	}
	if len(n.shims) == 0 {
		return n, fmt.Errorf("the tracer's libraries are not in %s", dir)
	}
	return n, nil
}
