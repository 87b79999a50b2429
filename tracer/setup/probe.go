package setup

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/tracer/settings"
)

// ProbeOptions are the options of Probe.
type ProbeOptions struct {
	Root     string              // the tracer's root, with the same path in the application's container
	Image    string              // root of the file system to examine; "" is /
	Settings settings.Settings   // the tracer's configuration; CallSites of "" is the default
	Getenv   func(string) string // the image's environment; nil: none
	Timeout  time.Duration       // for the examination of the image; 0: DefaultTimeout
	Refused  string              // why the pod must not be traced, whatever the image has; "" if it may be
}

// DefaultTimeout is the time limit for the examination of an image, which delays the
// start of the job.
const DefaultTimeout = 20 * time.Second

// Probe examines the image and writes the preload file and the configuration. It returns a verdict
// in every case. An error reports that a file could not be written; it is in the verdict's message,
// too. The caller must exit with 0 whatever happens, since a failing init container would keep the
// job from running.
func Probe(o ProbeOptions) (verdict Verdict, err error) {
	if o.Image == "" {
		o.Image = "/"
	}
	if o.Settings.CallSites == "" {
		o.Settings.CallSites = settings.Named("call_sites").Flags[0].Default
	}
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	lines, verdict := examineInTime(o)
	if o.Refused != "" {
		refuse(&verdict, messages.ProbeInternalError, o.Refused)
	}
	// The configuration comes first: libraries may only be preloaded if it exists.
	configErr := writeConfig(o, verdict)
	if configErr != nil {
		refuse(&verdict, messages.ProbeInternalError, configErr.Error())
	}
	if err := writePreload(o, lines, verdict); err != nil {
		// without a preload file of ours nothing can be traced
		refuse(&verdict, messages.ProbeInternalError, err.Error())
		return verdict, err
	}
	return verdict, configErr
}

// examineInTime examines the image and returns the lines of its own preload file and the
// verdict. If a file system does not respond in time, the examination is abandoned; it ends
// with the process.
func examineInTime(o ProbeOptions) (lines []string, verdict Verdict) {
	t := newTree(o.Image)
	own, found := make(chan []string, 1), make(chan Verdict, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil { // a bug of ours
				found <- Verdict{ABI: []ABI{}, Reason: messages.ProbeInternalError, Message: fmt.Sprintf("the probe failed: %v", r)}
			}
		}()
		own <- ownPreload(t, o.Root)
		found <- examine(t, o)
	}()
	var v Verdict
	select {
	case v = <-found:
	case <-time.After(o.Timeout):
		v = Verdict{ABI: []ABI{}, Reason: messages.ProbeTimedOut, Message: fmt.Sprintf(
			"the probe could not examine the image within %v; it had reached %s: does a file system there not respond?", o.Timeout, t.position())}
	}
	select {
	case lines = <-own:
	default:
	}
	return lines, v
}

// ownPreload returns the lines of the image's own preload file.
func ownPreload(t *tree, root string) []string {
	file, err := t.open("/etc/ld.so.preload", localOnly)
	if err != nil {
		return nil
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, maxPreload))
	if err != nil {
		return nil
	}
	var lines []string
	for line := range strings.Lines(string(raw)) {
		// left by an earlier probe of this container
		if !strings.Contains(line, filepath.Join(root, "lib", "libcairn-")) {
			lines = append(lines, strings.TrimRight(line, "\n"))
		}
	}
	return lines
}

// maxPreload is the number of bytes that are kept of the image's own preload file.
const maxPreload = 1 << 20

func examine(t *tree, o ProbeOptions) Verdict {
	v := Verdict{ABI: []ABI{}}
	if failed, ok := failedInstall(o.Root); ok {
		return failed
	}
	libc := findLibc(t)
	v.Libc, v.Architecture = libc.String(), libc.architecture
	switch {
	case libc.kind == libcNone:
		refuse(&v, messages.ProbeStaticBinary, "the image has no dynamic linker: its programs are statically linked, and nothing can be loaded into them")
		return v
	case libc.kind == libcOther:
		refuse(&v, messages.ProbeUnsupportedLibc, fmt.Sprintf("the image's C library is %s; the tracer needs glibc or musl", libc))
		return v
	}
	needs, err := needsOf(filepath.Join(o.Root, "lib"))
	if err != nil {
		refuse(&v, messages.ProbeInternalError, err.Error())
		return v
	}
	if needs.architecture != libc.architecture {
		refuse(&v, messages.ProbeUnsupportedArchitecture, fmt.Sprintf("the image's programs are %s, the tracer is %s", libc.architecture, needs.architecture))
		return v
	}
	if libc.version.known() && libc.version.less(needs.glibc) {
		refuse(&v, messages.ProbeUnsupportedLibc, fmt.Sprintf("the image has glibc %s; the tracer needs %s or newer", libc.version, needs.glibc))
		return v
	}

	var found, unsupported []string
	for _, library := range findMPI(t, o.Getenv) {
		if library.abi == "" {
			unsupported = append(unsupported, library.String())
			continue
		}
		if name := library.String(); !slices.Contains(found, name) {
			found = append(found, name)
		}
		if !slices.Contains(v.ABI, library.abi) {
			v.ABI = append(v.ABI, library.abi)
		}
	}
	v.MPI = strings.Join(found, ", ")
	v.ABI = slices.DeleteFunc(v.ABI, func(a ABI) bool { return !needs.shims[a] })
	switch preloaded := preloadedABIs(v.ABI, o); {
	case len(v.ABI) > 0 && libc.kind == libcMusl && len(preloaded) == 0:
		refuse(&v, messages.ProbeUnsupportedLibc, fmt.Sprintf(
			"the image's C library is musl, which does not read /etc/ld.so.preload: set LD_PRELOAD=%s in the env of the container, in launcher and workers",
			filepath.Join(o.Root, "lib", Shim(v.ABI[0]))))
	case len(v.ABI) > 0:
		v.Traceable = true
		if libc.kind == libcMusl {
			v.ABI = preloaded
		}
	case len(unsupported) > 0 || len(found) > 0:
		refuse(&v, messages.ProbeUnsupportedMPI, "the tracer does not know the MPI library of this image: "+strings.Join(append(found, unsupported...), ", "))
	default:
		refuse(&v, messages.ProbeNoMPI, noMPI(t.skippedText()))
	}
	return v
}

// preloadedABIs returns the ABIs whose shims LD_PRELOAD names.
func preloadedABIs(abis []ABI, o ProbeOptions) []ABI {
	named := strings.FieldsFunc(o.Getenv("LD_PRELOAD"), func(r rune) bool { return r == ':' || r == ' ' })
	return slices.DeleteFunc(slices.Clone(abis), func(a ABI) bool {
		return !slices.Contains(named, filepath.Join(o.Root, "lib", Shim(a)))
	})
}

// noMPI returns a message with the searched directories, and those that were skipped.
func noMPI(skipped string) string {
	const text = "no MPI library was found in the image: libmpi.so or libmpich.so in its library directories or beside mpirun"
	if skipped == "" {
		return text
	}
	return text + "; network file systems are looked at only where LD_LIBRARY_PATH or PATH of the container name them: " + skipped
}

// failedInstall returns the verdict of a failed installation; ok is false if there is none.
func failedInstall(root string) (v Verdict, ok bool) {
	raw, err := os.ReadFile(filepath.Join(root, InstallFile))
	if err != nil || !messages.Decode(string(raw), &v) || v.Traceable {
		return v, false
	}
	return v, true
}

// writePreload writes the image's own lines, then ours.
func writePreload(o ProbeOptions, own []string, v Verdict) error {
	var lines strings.Builder
	for _, line := range own {
		lines.WriteString(line + "\n")
	}
	if v.Traceable {
		for _, abi := range v.ABI {
			lines.WriteString(filepath.Join(o.Root, "lib", Shim(abi)) + "\n")
		}
		if o.Settings.Pointers {
			lines.WriteString(filepath.Join(o.Root, "lib", AllocationsLibrary) + "\n")
		}
	}
	return writeFile(filepath.Join(o.Root, PreloadFile), []byte(lines.String()), 0o644)
}

func writeConfig(o ProbeOptions, v Verdict) error {
	s := o.Settings
	s.Spool, s.SharedSpool = filepath.Join(o.Root, "spool"), true
	s.Enabled, s.Reason = v.Traceable, v.Message
	raw, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(o.Root, ConfigFile), append(raw, '\n'), 0o644)
}
