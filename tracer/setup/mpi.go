package setup

import (
	"bytes"
	"debug/elf"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// mpiLibrary is one MPI library found in an image.
type mpiLibrary struct {
	path           string
	implementation string
	version        string
	abi            ABI // "" where there is no shim for it
}

func (l mpiLibrary) String() string {
	name := l.implementation
	if name == "" {
		name = filepath.Base(l.path)
	}
	return strings.TrimSpace(name + " " + l.version)
}

// mpiNames match the files that hold the C interface: libmpi.so.40 (Open MPI),
// libmpich.so.12 (MPICH), libmpi.so.12 (Intel MPI, MVAPICH and others with
// MPICH's ABI).
var mpiNames = []string{"libmpi.so", "libmpi.so.*", "libmpich.so", "libmpich.so.*", "libmpi_abi.so*"}

// findMPI looks in all library directories; every file is looked at once.
func findMPI(image string, getenv func(string) string) []mpiLibrary {
	directories := libraryDirectories(image)
	directories = append(directories, cachedDirectories(image)...)
	directories = append(directories, mpiDirectories(image, getenv)...)
	var libraries []mpiLibrary
	seen := map[string]bool{}
	for _, dir := range directories {
		for _, pattern := range mpiNames {
			names, _ := fs.Glob(os.DirFS(dir), pattern)
			slices.Sort(names)
			for _, name := range names {
				name = filepath.Join(dir, name)
				// many names lead to one file
				real, err := filepath.EvalSymlinks(name)
				if err != nil || seen[real] {
					continue
				}
				seen[real] = true
				if l, ok := identify(real); ok {
					libraries = append(libraries, l)
				}
			}
		}
	}
	return libraries
}

// libraryDirectories are those that the dynamic linker searches by itself.
func libraryDirectories(image string) []string {
	var directories []string
	for _, pattern := range []string{
		"lib", "lib64", "usr/lib", "usr/lib64", "lib/*-linux-gnu", "usr/lib/*-linux-gnu",
		"usr/local/lib", "usr/local/lib64", "usr/local/lib/*-linux-gnu",
	} {
		names, _ := filepath.Glob(filepath.Join(image, pattern))
		directories = append(directories, names...)
	}
	return directories
}

// mpiDirectories are where distributions, vendors and people put MPI.
func mpiDirectories(image string, getenv func(string) string) []string {
	var directories []string
	for _, pattern := range []string{
		"usr/lib/*-linux-gnu/openmpi/lib", "usr/lib/*-linux-gnu/mpich/lib",
		"usr/lib64/openmpi/lib", "usr/lib64/mpich/lib", "usr/lib64/mpi/gcc/*/lib64",
		"opt/*/lib", "opt/*/lib64", "opt/*/*/lib", "opt/*/*/lib64", "usr/local/*/lib", "usr/local/*/lib64",
		"opt/intel/oneapi/mpi/*/lib", "opt/intel/oneapi/mpi/*/lib/release", "opt/intel/*/intel64/lib",
		"opt/conda/lib", "opt/conda/envs/*/lib", "home/*/lib", "home/*/*/lib",
	} {
		names, _ := filepath.Glob(filepath.Join(image, pattern))
		directories = append(directories, names...)
	}
	inImage := func(path string) string { return filepath.Join(image, path) }
	for _, dir := range filepath.SplitList(getenv("LD_LIBRARY_PATH")) {
		if dir != "" {
			directories = append(directories, inImage(dir))
		}
	}
	for _, prefix := range []string{getenv("I_MPI_ROOT"), getenv("OPAL_PREFIX"), getenv("MPI_HOME")} {
		if prefix != "" {
			directories = append(directories, inImage(filepath.Join(prefix, "lib")), inImage(filepath.Join(prefix, "lib64")), inImage(filepath.Join(prefix, "lib", "release")))
		}
	}
	for _, dir := range filepath.SplitList(getenv("PATH")) {
		for _, launcher := range []string{"mpirun", "mpiexec", "mpiexec.hydra"} {
			real, err := filepath.EvalSymlinks(inImage(filepath.Join(dir, launcher)))
			if err != nil {
				continue
			}
			prefix := filepath.Dir(filepath.Dir(real))
			directories = append(directories, filepath.Join(prefix, "lib"), filepath.Join(prefix, "lib64"), filepath.Join(prefix, "lib", "release"))
		}
	}
	return directories
}

// identify tells which MPI a library is; false when it is none.
func identify(path string) (mpiLibrary, bool) {
	l := mpiLibrary{path: path}
	file, err := elf.Open(path)
	if err != nil {
		return l, false // a linker script, or of another architecture
	}
	defer file.Close()
	symbols, err := file.DynamicSymbols()
	if err != nil {
		return l, false
	}
	defined := map[string]elf.Symbol{}
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF {
			defined[s.Name] = s
		}
	}
	if _, ok := defined["PMPI_Init"]; !ok {
		return l, false
	}
	if _, ok := defined["ompi_mpi_comm_world"]; ok {
		l.implementation, l.abi = "Open MPI", OpenMPI
		l.version = stringAt(file, defined["ompi_version_string"])
		if !plainVersion.MatchString(l.version) {
			l.version = firstMatch(path, bareVersion)
		}
		return l, true
	}
	content, _ := readBounded(path)
	switch {
	case bytes.Contains(content, []byte("Intel(R) MPI Library")):
		l.implementation, l.version = "Intel MPI", submatch(content, intelVersion)
	case bytes.Contains(content, []byte("MVAPICH")):
		l.implementation, l.version = "MVAPICH", submatch(content, mvapichVersion)
	case bytes.Contains(content, []byte("MPICH Version:")):
		l.implementation, l.version = "MPICH", stringAt(file, defined["MPII_Version_string"])
		if !plainVersion.MatchString(l.version) {
			l.version = ""
		}
	default:
		return l, true // an MPI that we do not know
	}
	// the ABI is that of the name: 12 since MPICH 3.1, which others promised to keep
	names, _ := file.DynString(elf.DT_SONAME)
	if slices.Contains(names, "libmpich.so.12") || slices.Contains(names, "libmpi.so.12") {
		l.abi = MPICH
	}
	return l, true
}

var (
	plainVersion   = regexp.MustCompile(`^\d+\.\d+(\.\d+)?[a-z0-9]*$`)
	bareVersion    = regexp.MustCompile(`\x00v(\d+\.\d+\.\d+[a-z0-9]*)\x00`)
	intelVersion   = regexp.MustCompile(`Intel\(R\) MPI Library (\d[\d.]*)`)
	mvapichVersion = regexp.MustCompile(`\x00(\d+\.\d+(?:\.\d+)?)\x00`)
)

func firstMatch(path string, pattern *regexp.Regexp) string {
	content, err := readBounded(path)
	if err != nil {
		return ""
	}
	return submatch(content, pattern)
}

func submatch(content []byte, pattern *regexp.Regexp) string {
	if m := pattern.FindSubmatch(content); m != nil {
		return string(m[1])
	}
	return ""
}

// stringAt reads the C string that a data symbol holds.
func stringAt(file *elf.File, s elf.Symbol) string {
	const longest = 64
	for _, p := range file.Progs {
		if p.Type != elf.PT_LOAD || s.Value < p.Vaddr || s.Value >= p.Vaddr+p.Filesz {
			continue
		}
		buffer := make([]byte, min(longest, p.Vaddr+p.Filesz-s.Value))
		n, err := p.ReadAt(buffer, int64(s.Value-p.Vaddr))
		if err != nil && !errors.Is(err, io.EOF) {
			return ""
		}
		text, _, terminated := bytes.Cut(buffer[:n], []byte{0})
		if !terminated {
			return ""
		}
		return string(text)
	}
	return ""
}

func readImageFile(image, name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(image, name))
}
