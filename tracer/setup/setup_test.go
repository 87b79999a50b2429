package setup

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/tracer/budget"
	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
	"github.com/cairn-mpi/cairn/tracer/settings"
)

// library compiles a shared library.
func library(t *testing.T, path, source string, flags ...string) {
	t.Helper()
	libraryBy(t, "gcc", path, source, flags...)
}

func libraryBy(t *testing.T, compiler, path, source string, flags ...string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	c := filepath.Join(t.TempDir(), "library.c")
	if err := os.WriteFile(c, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-shared", "-fPIC", "-o", path, c}, flags...)
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler, err, out)
	}
}

// tracerRoot returns a root with libraries, as install creates it.
func tracerRoot(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range []string{Shim(OpenMPI), Shim(MPICH)} {
		library(t, filepath.Join(root, "lib", name), "#include <string.h>\nvoid *f(void *p) { return memcpy(p, \"x\", 2); }\n")
	}
	return root
}

// glibcImage returns an image with this machine's dynamic linker and libc.
func glibcImage(t *testing.T) string {
	t.Helper()
	image := t.TempDir()
	linked := 0
	for _, name := range append(slices.Clone(interpreters), "lib/x86_64-linux-gnu/libc.so.6", "lib/aarch64-linux-gnu/libc.so.6") {
		raw, err := os.ReadFile("/" + name)
		if err != nil {
			continue
		}
		linked++
		write(t, filepath.Join(image, name), string(raw))
	}
	if linked != 2 {
		t.Fatalf("found %d of dynamic linker and libc on this machine", linked)
	}
	return image
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

const (
	openMPI5 = "int ompi_mpi_comm_world; const char bare[] = \"x\\0v5.0.7\"; int PMPI_Init(void) { return bare[0]; }\n"
	mpich42  = "const char MPII_Version_string[] = \"4.2.1\"; const char banner[] = \"MPICH Version:\t%s\\n\"; int PMPI_Init(void) { return banner[0]; }\n"
	intel    = "const char banner[] = \"Intel(R) MPI Library 2021.9 for Linux\"; int PMPI_Init(void) { return banner[0]; }\n"
	strange  = "int PMPI_Init(void) { return 0; }\n"
)

func probe(t *testing.T, o ProbeOptions) (Verdict, settings.Settings, string) {
	t.Helper()
	o.Timeout = 10 * time.Minute // this machine may be busy, and the time limit is another test's
	v, err := Probe(o)
	if err != nil {
		t.Fatal(err)
	}
	var c settings.Settings
	if err := json.Unmarshal([]byte(read(t, filepath.Join(o.Root, ConfigFile))), &c); err != nil {
		t.Fatal(err)
	}
	return v, c, read(t, filepath.Join(o.Root, PreloadFile))
}

func TestProbeFindsBothMPIs(t *testing.T) {
	root, image := tracerRoot(t), glibcImage(t)
	library(t, filepath.Join(image, "opt/openmpi/lib/libmpi.so.40.1"), openMPI5)
	if err := os.Symlink("libmpi.so.40.1", filepath.Join(image, "opt/openmpi/lib/libmpi.so")); err != nil {
		t.Fatal(err)
	}
	library(t, filepath.Join(image, "usr/lib/x86_64-linux-gnu/libmpich.so.12"), mpich42, "-Wl,-soname,libmpich.so.12")
	write(t, filepath.Join(image, "etc/ld.so.preload"), "# ours\n/usr/lib/libguard.so")
	v, c, preload := probe(t, ProbeOptions{Root: root, Image: image, Settings: settings.Settings{SpoolLimitBytes: 77}})
	if !v.Traceable || v.MPI != "MPICH 4.2.1, Open MPI 5.0.7" || !slices.Equal(v.ABI, []ABI{MPICH, OpenMPI}) || !strings.HasPrefix(v.Libc, "glibc 2.") {
		t.Errorf("%+v", v)
	}
	want := "# ours\n/usr/lib/libguard.so\n" + root + "/lib/libcairn-mpich.so\n" + root + "/lib/libcairn-openmpi.so\n"
	if preload != want {
		t.Errorf("preload file:\n%s", preload)
	}
	if !c.Enabled || c.Spool != root+"/spool" || c.CallSites != "caller" || c.SpoolLimitBytes != 77 || !c.SharedSpool {
		t.Errorf("%+v", c)
	}
}

func TestProbeFindsMPIBesideMpirun(t *testing.T) {
	root, image := tracerRoot(t), glibcImage(t)
	library(t, filepath.Join(image, "weird/place/lib/libmpi.so.12"), intel, "-Wl,-soname,libmpi.so.12")
	write(t, filepath.Join(image, "weird/place/bin/mpirun"), "#!/bin/sh\n")
	v, _, _ := probe(t, ProbeOptions{Root: root, Image: image, Getenv: func(name string) string {
		return map[string]string{"PATH": "/bin:/weird/place/bin"}[name]
	}})
	if !v.Traceable || v.MPI != "Intel MPI 2021.9" || !slices.Equal(v.ABI, []ABI{MPICH}) {
		t.Errorf("%+v", v)
	}
}

const muslLinker = "void f(void) {}\n"

func muslImage(t *testing.T) string {
	t.Helper()
	image := t.TempDir()
	library(t, filepath.Join(image, "lib/ld-musl-x86_64.so.1"), muslLinker, "-nostdlib")
	library(t, filepath.Join(image, "usr/lib/libmpi.so.40"), openMPI5)
	return image
}

// musl reads no preload file, so an image with it is traced if LD_PRELOAD of its container names
// the shim.
func TestProbeMusl(t *testing.T) {
	for _, of := range []string{"%s", "/usr/lib/other.so:%s", "%s /usr/lib/other.so"} {
		root := tracerRoot(t)
		shim := filepath.Join(root, "lib", Shim(OpenMPI))
		v, config, _ := probe(t, ProbeOptions{Root: root, Image: muslImage(t), Getenv: func(name string) string {
			if name == "LD_PRELOAD" {
				return fmt.Sprintf(of, shim)
			}
			return ""
		}})
		if !v.Traceable || v.Libc != "musl" || !slices.Equal(v.ABI, []ABI{OpenMPI}) || !config.Enabled {
			t.Errorf("%s: %+v, %+v", of, v, config)
		}
		v, _, _ = probe(t, ProbeOptions{Root: root, Image: muslImage(t)})
		if v.Traceable || !strings.Contains(v.Message, "LD_PRELOAD="+shim) {
			t.Errorf("%+v", v)
		}
	}
}

// An image for arm64 is traced by the libraries for arm64, whatever the architecture of the probe.
func TestProbeArm64(t *testing.T) {
	const cross = "/usr/aarch64-linux-gnu/lib/"
	image, root := t.TempDir(), t.TempDir()
	for to, from := range map[string]string{"lib/ld-linux-aarch64.so.1": "ld-linux-aarch64.so.1", "lib/aarch64-linux-gnu/libc.so.6": "libc.so.6"} {
		raw, err := os.ReadFile(cross + from)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(image, to), string(raw))
	}
	libraryBy(t, "aarch64-linux-gnu-gcc", filepath.Join(image, "usr/lib/aarch64-linux-gnu/libmpi.so.40"), openMPI5)
	libraryBy(t, "aarch64-linux-gnu-gcc", filepath.Join(root, "lib", Shim(OpenMPI)), strange)
	v, _, preload := probe(t, ProbeOptions{Root: root, Image: image})
	if !v.Traceable || v.Architecture != "arm64" || !slices.Equal(v.ABI, []ABI{OpenMPI}) || preload == "" {
		t.Errorf("%+v, %q", v, preload)
	}
	v, _, preload = probe(t, ProbeOptions{Root: tracerRoot(t), Image: image})
	if v.Traceable || v.Reason != messages.ProbeUnsupportedArchitecture || preload != "" {
		t.Errorf("%+v, %q", v, preload)
	}
}

func TestProbeRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		image  func(t *testing.T) string
		root   func(t *testing.T) string
		reason messages.ProbeReason
	}{
		"no MPI": {image: glibcImage, reason: messages.ProbeNoMPI},
		"unknown MPI": {image: func(t *testing.T) string {
			image := glibcImage(t)
			library(t, filepath.Join(image, "usr/lib/libmpi.so.1"), strange)
			return image
		}, reason: messages.ProbeUnsupportedMPI},
		"old MPICH": {image: func(t *testing.T) string {
			image := glibcImage(t)
			library(t, filepath.Join(image, "usr/lib/libmpich.so.10"), mpich42, "-Wl,-soname,libmpich.so.10")
			return image
		}, reason: messages.ProbeUnsupportedMPI},
		"musl without MPI": {image: func(t *testing.T) string {
			image := muslImage(t)
			if err := os.Remove(filepath.Join(image, "usr/lib/libmpi.so.40")); err != nil {
				t.Fatal(err)
			}
			return image
		}, reason: messages.ProbeNoMPI},
		"musl": {image: muslImage, reason: messages.ProbeUnsupportedLibc},
		"musl with gcompat": {image: func(t *testing.T) string {
			image := muslImage(t)
			library(t, filepath.Join(image, "lib64/ld-linux-x86-64.so.2"), muslLinker, "-nostdlib")
			return image
		}, reason: messages.ProbeUnsupportedLibc},
		"another C library": {image: func(t *testing.T) string {
			image := t.TempDir()
			library(t, filepath.Join(image, "lib64/ld-linux-x86-64.so.2"), muslLinker, "-nostdlib")
			return image
		}, reason: messages.ProbeUnsupportedLibc},
		"nothing dynamic": {image: func(t *testing.T) string { return t.TempDir() }, reason: messages.ProbeStaticBinary},
		"no libraries of ours": {image: glibcImage, root: func(t *testing.T) string { return t.TempDir() },
			reason: messages.ProbeInternalError},
	} {
		t.Run(name, func(t *testing.T) {
			image, root := c.image(t), ""
			if c.root != nil {
				root = c.root(t)
			} else {
				root = tracerRoot(t)
			}
			write(t, filepath.Join(image, "etc/ld.so.preload"), "/usr/lib/libguard.so\n")
			v, config, preload := probe(t, ProbeOptions{Root: root, Image: image})
			if v.Traceable || v.Reason != c.reason || v.Message == "" {
				t.Errorf("%+v", v)
			}
			if preload != "/usr/lib/libguard.so\n" {
				t.Errorf("the image's own preload became %q", preload)
			}
			if config.Enabled || config.Reason == "" {
				t.Errorf("%+v", config)
			}
		})
	}
}

func TestProbeWithoutPermission(t *testing.T) {
	v, err := Probe(ProbeOptions{Root: "/proc/nowhere", Image: t.TempDir()})
	if err == nil || v.Traceable || v.Reason != messages.ProbeInternalError {
		t.Errorf("%+v, %v", v, err)
	}
}

// Excluded groups are written to the configuration.
func TestProbeWritesControl(t *testing.T) {
	root := t.TempDir()
	_, err := Probe(ProbeOptions{Root: root, Image: t.TempDir(), Settings: settings.Settings{Exclude: "io,query", StartOff: true}})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(root, ConfigFile))
	if err != nil {
		t.Fatal(err)
	}
	var c settings.Settings
	if err := json.Unmarshal(raw, &c); err != nil || c.Exclude != "io,query" || c.Include != "" || !c.StartOff {
		t.Errorf("%s: %+v, %v", raw, c, err)
	}
}

// TestProbeOfThisMachine needs an MPI, which all machines that build Cairn have.
func TestProbeOfThisMachine(t *testing.T) {
	if _, err := exec.LookPath("mpirun"); err != nil {
		t.Fatal("there is no MPI on this machine; `make test` installs it")
	}
	v, _, _ := probe(t, ProbeOptions{Root: tracerRoot(t), Getenv: os.Getenv})
	if !v.Traceable || !strings.Contains(v.MPI, ".") {
		t.Errorf("%+v", v)
	}
	t.Log(v.MPI, v.Libc)
}

func TestCacheOfThisMachine(t *testing.T) {
	if len(cachedDirectories(newTree("/"))) == 0 {
		t.Error("the cache of ldconfig names no MPI library")
	}
}

func TestDamagedCache(t *testing.T) {
	image := t.TempDir()
	for _, content := range []string{"", cacheMagic, cacheMagic + strings.Repeat("\xff", 60)} {
		write(t, filepath.Join(image, "etc/ld.so.cache"), content)
		if got := cachedDirectories(newTree(image)); len(got) > 0 {
			t.Errorf("%q: %v", content, got)
		}
	}
}

func TestInstall(t *testing.T) {
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	libraries, to := tracerRoot(t), filepath.Join(t.TempDir(), "cairn")
	binary, tmpfs := filepath.Join(t.TempDir(), "cairn"), t.TempDir()
	write(t, binary, "binary")
	for range 2 {
		if v := Install(InstallOptions{To: to, Binary: binary, Libraries: filepath.Join(libraries, "lib"), SpoolLimitBytes: 1 << 20, Buffers: tmpfs}); !v.Traceable {
			t.Fatal(v)
		}
	}
	for name, want := range map[string]os.FileMode{
		"cairn":                    0o755,
		"lib/libcairn-openmpi.so":  0o644,
		"ld.so.preload":            0o644,
		"spool":                    os.ModeDir | os.ModeSticky | 0o777,
		"spool/budget":             0o666,
		"spool/" + spool.TmpfsLink: os.ModeDir | os.ModeSticky | 0o777,
	} {
		info, err := os.Stat(filepath.Join(to, name))
		if err != nil {
			t.Error(err)
		} else if info.Mode() != want {
			t.Errorf("%s has mode %v, want %v", name, info.Mode(), want)
		}
	}
	if info, err := os.Stat(filepath.Join(to, "lib")); err != nil || info.Mode().Perm()&0o055 != 0o055 {
		t.Errorf("lib cannot be entered by other users: %v", info.Mode())
	}
	// a rank may begin before the sidecar does
	account, err := budget.Open(filepath.Join(to, "spool"))
	if err != nil || account == nil || account.Limit() != 1<<20 {
		t.Error(account, err)
	}
}
