package setup

import (
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// mpiLibrary is an MPI library found in an image.
type mpiLibrary struct {
	path           string
	implementation string
	version        string
	abi            ABI // "" if there is no shim for it
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

// findMPI searches all library directories; every file is examined once.
func findMPI(t *tree, getenv func(string) string) []mpiLibrary {
	var libraries []mpiLibrary
	seen := map[string]bool{}
	look := func(how reach, directories ...string) {
		for _, dir := range directories {
			for _, name := range t.names(dir, how, mpiNames...) {
				// several names may lead to one file
				real, _, err := t.resolve(path.Join(dir, name), how)
				if err != nil || seen[real] {
					continue
				}
				seen[real] = true
				if l, ok := identify(t, real, how); ok {
					libraries = append(libraries, l)
				}
			}
		}
	}
	look(localOnly, libraryDirectories(t)...)
	look(everywhere, cachedDirectories(t)...)
	look(localOnly, mpiDirectories(t)...)
	look(everywhere, namedDirectories(t, getenv)...)
	return libraries
}

// libraryDirectories returns the default directories of the dynamic linker.
func libraryDirectories(t *tree) []string {
	return t.expandAll("lib", "lib64", "usr/lib", "usr/lib64", "lib/*-linux-gnu", "usr/lib/*-linux-gnu",
		"usr/local/lib", "usr/local/lib64", "usr/local/lib/*-linux-gnu")
}

// mpiDirectories returns directories where distributions, vendors, Spack and people install MPI.
// Home directories are not included, since they are often mounted from a server.
func mpiDirectories(t *tree) []string {
	patterns := []string{
		"usr/lib/*-linux-gnu/openmpi/lib", "usr/lib/*-linux-gnu/mpich/lib",
		"usr/lib64/openmpi/lib", "usr/lib64/mpich/lib", "usr/lib64/mpi/gcc/*/lib64",
		"opt/*/lib", "opt/*/lib64", "opt/*/*/lib", "opt/*/*/lib64", "usr/local/*/lib", "usr/local/*/lib64",
		"opt/intel/oneapi/mpi/*/lib", "opt/intel/oneapi/mpi/*/lib/release", "opt/intel/*/intel64/lib",
		"opt/conda/lib", "opt/conda/envs/*/lib",
	}
	// Spack: <tree>/<platform>/<compiler>/<package>-<version>-<hash>/lib, or without the
	// compiler since 1.0
	for _, tree := range []string{"opt/spack", "opt/software", "opt/spack/opt/spack", "spack/opt/spack"} {
		for _, depth := range []string{"*", "*/*"} {
			for _, name := range []string{"*mpi*", "mvapich*"} {
				patterns = append(patterns, path.Join(tree, depth, name, "lib"), path.Join(tree, depth, name, "lib64"))
			}
		}
	}
	return t.expandAll(patterns...)
}

// namedDirectories returns the directories that the environment names, and those beside
// the mpirun in PATH.
func namedDirectories(t *tree, getenv func(string) string) []string {
	var directories []string
	for _, dir := range filepath.SplitList(getenv("LD_LIBRARY_PATH")) {
		if dir != "" {
			directories = append(directories, dir)
		}
	}
	below := func(prefix string) {
		directories = append(directories, path.Join(prefix, "lib"), path.Join(prefix, "lib64"), path.Join(prefix, "lib", "release"))
	}
	for _, prefix := range []string{getenv("I_MPI_ROOT"), getenv("OPAL_PREFIX"), getenv("MPI_HOME")} {
		if prefix != "" {
			below(prefix)
		}
	}
	for _, dir := range filepath.SplitList(getenv("PATH")) {
		for _, launcher := range []string{"mpirun", "mpiexec", "mpiexec.hydra"} {
			if real, _, err := t.resolve(path.Join(dir, launcher), everywhere); err == nil {
				below(path.Dir(path.Dir(real)))
			}
		}
	}
	return directories
}

// identify determines which MPI a library is; false if it is none.
func identify(t *tree, name string, how reach) (mpiLibrary, bool) {
	l := mpiLibrary{path: name}
	file, err := openELF(t, name, how)
	if err != nil {
		return l, false // a linker script
	}
	defer file.Close()
	defined := file.defined("PMPI_Init", "ompi_mpi_comm_world", "ompi_version_string", "MPII_Version_string")
	if _, ok := defined["PMPI_Init"]; !ok {
		return l, false
	}
	if _, ok := defined["ompi_mpi_comm_world"]; ok {
		l.implementation, l.abi = "Open MPI", OpenMPI
		if l.version = plain(file.stringAt(defined["ompi_version_string"])); l.version == "" {
			l.version = group(firstMatch(bareVersion, file.loaded()...))
		}
		return l, true
	}
	names := textsIn([]string{intelName, mvapichName, mpichName}, file.loaded()...)
	switch {
	case names[intelName]:
		l.implementation, l.version = "Intel MPI", group(firstMatch(intelVersion, file.loaded()...))
	case names[mvapichName]:
		l.implementation, l.version = "MVAPICH", group(firstMatch(mvapichVersion, file.loaded()...))
	case names[mpichName]:
		l.implementation, l.version = "MPICH", plain(file.stringAt(defined["MPII_Version_string"]))
	default:
		return l, true // an unknown MPI
	}
	// the ABI follows from the soname: 12 since MPICH 3.1, which others have promised to keep
	if name := file.soname(); name == "libmpich.so.12" || name == "libmpi.so.12" {
		l.abi = MPICH
	}
	return l, true
}

// Texts that identify the libraries. A pattern that begins with a literal is searched fast.
var (
	plainVersion   = regexp.MustCompile(`^\d+\.\d+(\.\d+)?[a-z0-9]*$`)
	bareVersion    = regexp.MustCompile(`\x00v(\d+\.\d+\.\d+[a-z0-9]{0,20})\x00`)
	intelVersion   = regexp.MustCompile(`Intel\(R\) MPI Library (\d[\d.]{0,30})`)
	mvapichVersion = regexp.MustCompile(`\x00(\d{1,3}\.\d{1,3}(?:\.\d{1,3})?)\x00`)
)

const (
	intelName   = "Intel(R) MPI Library"
	mvapichName = "MVAPICH"
	mpichName   = "MPICH Version:"
)

// plain returns a version if it looks like one, else "".
func plain(version string) string {
	if plainVersion.MatchString(version) {
		return version
	}
	return ""
}

// group returns the first group of a match, "" if there is none.
func group(match []string) string {
	if len(match) < 2 {
		return ""
	}
	return match[1]
}
