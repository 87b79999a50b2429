package setup

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/cairn-mpi/cairn/api/messages"
)

// grow makes a library larger: its stack header becomes a loaded segment of this size, with
// text at the end.
func grow(t *testing.T, path string, size int64, text string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	parsed, err := elf.NewFile(file)
	if err != nil {
		t.Fatal(err)
	}
	header := slices.IndexFunc(parsed.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_GNU_STACK })
	end, err := file.Seek(0, 2)
	if err != nil {
		t.Fatal(err)
	}
	part, err := binary.Append(nil, binary.LittleEndian, elf.Prog64{
		Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R), Off: uint64(end), Vaddr: 1 << 40, Filesz: uint64(size), Memsz: uint64(size)})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []struct {
		at   int64
		data []byte
	}{{64 + int64(header)*int64(len(part)), part}, {end + size - int64(len(text)), []byte(text)}} {
		if _, err := file.WriteAt(w.data, w.at); err != nil {
			t.Fatal(err)
		}
	}
}

const mvapich = "const char banner[] = \"MVAPICH\"; int PMPI_Init(void) { return banner[0]; }\n"

// largeLibraries are libraries whose names and versions come after hundreds of megabytes.
func largeLibraries(t *testing.T, dir string, size int64) {
	soname := "-Wl,-soname,libmpi.so.12"
	library(t, filepath.Join(dir, "libmpi.so.1"), strange, soname)
	grow(t, filepath.Join(dir, "libmpi.so.1"), size, "Intel(R) MPI Library 2021.10 for Linux\x00")
	library(t, filepath.Join(dir, "libmpi.so.2"), mvapich, soname)
	grow(t, filepath.Join(dir, "libmpi.so.2"), size, "\x002.3.7\x00")
	library(t, filepath.Join(dir, "libmpi.so.3"), "int ompi_mpi_comm_world; int PMPI_Init(void) { return 0; }\n")
	grow(t, filepath.Join(dir, "libmpi.so.3"), size, "\x00v5.0.9\x00")
	library(t, filepath.Join(dir, "libmpi.so.4"), strange)
	grow(t, filepath.Join(dir, "libmpi.so.4"), size, "nothing that is known")
}

const largeVersions = "Intel MPI 2021.10, MVAPICH 2.3.7, Open MPI 5.0.9"

// large is the size of a library that must not be read into memory.
func large() int64 {
	if testing.Short() {
		return 64 << 20
	}
	return 300 << 20
}

// A library may have any size.
func TestLargeLibraries(t *testing.T) {
	image := glibcImage(t)
	largeLibraries(t, filepath.Join(image, "opt/mpi/lib"), large())
	v, _, _ := probe(t, ProbeOptions{Root: tracerRoot(t), Image: image})
	if !v.Traceable || v.MPI != largeVersions {
		t.Errorf("%+v", v)
	}
}

// So may the C library.
func TestLargeLibc(t *testing.T) {
	image := t.TempDir()
	const source = "int gnu_get_libc_version(void) { return 0; }\n"
	library(t, filepath.Join(image, interpreters[0]), source, "-nostdlib")
	libc := filepath.Join(image, "usr/lib/x86_64-linux-gnu/libc.so.6")
	library(t, libc, source, "-nostdlib")
	grow(t, libc, large(), "GNU C Library (Debian) stable release version 2.99.\n\x00")
	library(t, filepath.Join(image, "usr/lib/libmpi.so.40"), openMPI5)
	if v, _, _ := probe(t, ProbeOptions{Root: tracerRoot(t), Image: image}); !v.Traceable || v.Libc != "glibc 2.99" {
		t.Errorf("%+v", v)
	}
}

// A text may span the border of two windows, or be at the beginning or end of one.
func TestMatchesAcrossWindows(t *testing.T) {
	for _, at := range []int{0, 1, windowBytes - overlapBytes - 1, windowBytes - overlapBytes, windowBytes - 7, windowBytes - 1, windowBytes, 3*windowBytes - 3*overlapBytes - 2} {
		text := "Intel(R) MPI Library 2021.10"
		content := strings.Repeat("x", at) + text + strings.Repeat("y", 2*windowBytes)
		if got := group(firstMatch(intelVersion, strings.NewReader(content))); got != "2021.10" {
			t.Errorf("at %d: %q", at, got)
		}
		if got := group(firstMatch(intelVersion, strings.NewReader(content[:at+len(text)]))); got != "2021.10" {
			t.Errorf("at %d, the end: %q", at, got)
		}
		if got := offsetsOf(strings.NewReader(content), []byte(text), maxCopies); !slices.Equal(got, []int64{int64(at)}) {
			t.Errorf("at %d: places %v", at, got)
		}
	}
	many := strings.NewReader(strings.Repeat("ab", windowBytes))
	if got := offsetsOf(many, []byte("ab"), 5); len(got) != 5 {
		t.Errorf("%d places", len(got))
	}
}

// A file whose headers claim more than fits in memory is no library.
func TestHugeHeaders(t *testing.T) {
	image := glibcImage(t)
	path := filepath.Join(image, "usr/lib/libmpi.so.40")
	library(t, path, openMPI5)
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	header := make([]byte, 64)
	if _, err := file.ReadAt(header, 0); err != nil {
		t.Fatal(err)
	}
	names := int64(binary.LittleEndian.Uint64(header[40:])) + 64*int64(binary.LittleEndian.Uint16(header[62:]))
	if _, err := file.WriteAt(binary.LittleEndian.AppendUint64(nil, 1<<40), names+32); err != nil {
		t.Fatal(err)
	}
	if v, _, _ := probe(t, ProbeOptions{Root: tracerRoot(t), Image: image}); v.Reason != messages.ProbeNoMPI {
		t.Errorf("%+v", v)
	}
}

// Spack installs each package in a directory of its own, deep below /opt.
func TestProbeFindsSpack(t *testing.T) {
	for _, dir := range []string{
		"opt/spack/opt/spack/linux-debian12-zen3/gcc-12.2.0/openmpi-5.0.7-kzxb/lib",
		"opt/software/linux-zen3/openmpi-5.0.7-kzxb/lib",
		"spack/opt/spack/linux-zen3/gcc-12.2.0/mvapich-4.0-kzxb/lib64",
	} {
		image := glibcImage(t)
		library(t, filepath.Join(image, dir, "libmpi.so.40"), openMPI5)
		if v, _, _ := probe(t, ProbeOptions{Root: tracerRoot(t), Image: image}); !v.Traceable {
			t.Errorf("%s: %+v", dir, v)
		}
	}
}

func TestMounts(t *testing.T) {
	m := parseMounts(strings.NewReader(`22 1 0:20 / / rw - fuse.fuse-overlayfs fuse-overlayfs rw
36 35 98:0 /x /home rw,noatime shared:3 master:1 - nfs4 server:/home rw
37 35 8:1 / /home/local rw - ext4 /dev/sda1 rw
38 35 8:1 / /with\040space rw - fuse.sshfs host: rw
39 35 8:1 / /data rw - ext4 /dev/sdb rw
40 39 8:1 / /data rw - lustre mds:/x rw
broken
`))
	for path, want := range map[string]string{
		"/": "", "/opt/mpi": "", "/home": "/home", "/home/a/lib": "/home", "/homes": "", "/home/local/lib": "",
		"/with space/x": "/with space", "/data/lib": "/data",
	} {
		point, _, remote := m.remote(path)
		if remote != (want != "") || remote && point != want {
			t.Errorf("%s: %q, %v", path, point, remote)
		}
	}
}

// A walk does not enter a network file system, even through a link, unless somebody
// named the directory.
func TestNetworkFileSystems(t *testing.T) {
	image := t.TempDir()
	tr := newTree(image)
	library(t, filepath.Join(image, "opt/site/lib/libmpi.so.40"), openMPI5)
	library(t, filepath.Join(image, "usr/local/mpi/lib/libmpi.so.40"), openMPI5)
	if err := os.Symlink("site", filepath.Join(image, "opt/link")); err != nil {
		t.Fatal(err)
	}
	tr.mounted = mounts{filepath.Join(image, "opt/site"): "nfs"}
	none := func(string) string { return "" }
	if found := findMPI(tr, none); len(found) != 1 || found[0].path != "/usr/local/mpi/lib/libmpi.so.40" {
		t.Errorf("found %v", found)
	}
	if text := tr.skippedText(); text != filepath.Join(image, "opt/site")+" (nfs)" {
		t.Errorf("skipped %q", text)
	}
	named := func(name string) string { return map[string]string{"LD_LIBRARY_PATH": "/opt/link/lib"}[name] }
	if found := findMPI(tr, named); len(found) != 2 {
		t.Errorf("found %v", found)
	}
}

// What is no regular file is no library, and does not block.
func TestPipesAndLoops(t *testing.T) {
	image := glibcImage(t)
	dir := filepath.Join(image, "opt/mpi/lib")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"libmpi.so.1": "libmpi.so.1", "libmpi.so.2": "/dev/zero", "libmpi.so.3": "gone"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{filepath.Join(dir, "libmpi.so.40"), filepath.Join(image, "etc/ld.so.preload"), filepath.Join(image, "etc/ld.so.cache")} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := mkfifo(name); err != nil {
			t.Fatal(err)
		}
	}
	if v, _, preload := probe(t, ProbeOptions{Root: tracerRoot(t), Image: image}); v.Reason != messages.ProbeNoMPI || preload != "" {
		t.Errorf("%+v, %q", v, preload)
	}
}

func mkfifo(name string) error { return syscall.Mkfifo(name, 0o644) }
