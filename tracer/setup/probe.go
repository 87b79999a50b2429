package setup

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// ProbeOptions says where the tracer is and how it is to be configured.
type ProbeOptions struct {
	Root            string // the tracer's root, with the same path in the application's container
	Image           string // root of the file system to look at; "" is /
	CallSites       string // "" is "caller"
	Pointers        bool   // load the library that knows allocations
	Timing          string // as trace.ParseTimingSettings reads it; "" keeps every time stamp
	Mode            string // as recorder.ParseMode reads it; "" records every rank by itself
	SpoolLimitBytes int64
	SegmentBytes    int64
	Include         []string            // groups of functions to record; none: all
	Exclude         []string            // groups to leave out
	StartOff        bool                // nothing but lives of handles until MPI_Pcontrol(1)
	Getenv          func(string) string // the image's environment; nil is none
}

// Probe looks at the image and writes the preload file and the configuration.
// It gives a verdict in every case; an error means that a file could not be
// written, and is in the verdict's message too. The caller exits with 0
// whatever happens: a failing init container would keep the job from running.
func Probe(o ProbeOptions) (verdict Verdict, err error) {
	if o.Image == "" {
		o.Image = "/"
	}
	if o.CallSites == "" {
		o.CallSites = "caller"
	}
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	verdict = examineSafely(o)
	if err := writePreload(o, verdict); err != nil {
		// without a preload file of ours nothing is traced, whatever we found
		verdict.refuse(InternalError, err.Error())
		return verdict, err
	}
	if err := writeConfig(o, verdict); err != nil {
		verdict.refuse(InternalError, err.Error())
		return verdict, err
	}
	return verdict, nil
}

// examineSafely turns a bug of ours into a verdict.
func examineSafely(o ProbeOptions) (verdict Verdict) {
	defer func() {
		if r := recover(); r != nil {
			verdict = Verdict{ABI: []ABI{}, Reason: InternalError, Message: fmt.Sprintf("the probe failed: %v", r)}
		}
	}()
	return examine(o)
}

func examine(o ProbeOptions) Verdict {
	v := Verdict{ABI: []ABI{}}
	libc := findLibc(o.Image)
	v.Libc, v.Architecture = libc.String(), libc.architecture
	switch {
	case libc.kind == libcNone:
		v.refuse(StaticBinary, "the image has no dynamic linker: its programs are statically linked, and nothing can be loaded into them")
		return v
	case libc.kind != libcGlibc:
		v.refuse(UnsupportedLibc, fmt.Sprintf("the image's C library is %s; the tracer needs glibc", libc))
		return v
	}
	needs, err := needsOf(filepath.Join(o.Root, "lib"))
	if err != nil {
		v.refuse(InternalError, err.Error())
		return v
	}
	if needs.architecture != libc.architecture {
		v.refuse(UnsupportedArchitecture, fmt.Sprintf("the image's programs are %s, the tracer is %s", libc.architecture, needs.architecture))
		return v
	}
	if libc.version.known() && libc.version.less(needs.glibc) {
		v.refuse(UnsupportedLibc, fmt.Sprintf("the image has glibc %s; the tracer needs %s or newer", libc.version, needs.glibc))
		return v
	}

	var found, unsupported []string
	for _, library := range findMPI(o.Image, o.Getenv) {
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
	switch {
	case len(v.ABI) > 0:
		v.Traceable = true
	case len(unsupported) > 0 || len(found) > 0:
		v.refuse(UnsupportedMPI, "the tracer does not know the MPI library of this image: "+strings.Join(append(found, unsupported...), ", "))
	default:
		v.refuse(NoMPI, "no MPI library was found in the image: libmpi.so or libmpich.so in its library directories or beside mpirun")
	}
	return v
}

// writePreload writes the image's own lines, then ours.
func writePreload(o ProbeOptions, v Verdict) error {
	var lines strings.Builder
	own, err := readImageFile(o.Image, "etc/ld.so.preload")
	if err == nil && len(own) > 0 {
		for line := range strings.Lines(string(own)) {
			if strings.Contains(line, filepath.Join(o.Root, "lib", "libcairn-")) {
				continue // from an earlier probe of this very container
			}
			lines.WriteString(strings.TrimRight(line, "\n") + "\n")
		}
	}
	if v.Traceable {
		for _, abi := range v.ABI {
			lines.WriteString(filepath.Join(o.Root, "lib", abi.Shim()) + "\n")
		}
		if o.Pointers {
			lines.WriteString(filepath.Join(o.Root, "lib", AllocationsLibrary) + "\n")
		}
	}
	return writeFile(filepath.Join(o.Root, PreloadFile), []byte(lines.String()), 0o644)
}

func writeConfig(o ProbeOptions, v Verdict) error {
	raw, err := json.Marshal(Config{
		Spool:           filepath.Join(o.Root, "spool"),
		CallSites:       o.CallSites,
		Pointers:        o.Pointers,
		Timing:          o.Timing,
		Mode:            o.Mode,
		SpoolLimitBytes: o.SpoolLimitBytes,
		SegmentBytes:    o.SegmentBytes,
		Include:         strings.Join(o.Include, ","),
		Exclude:         strings.Join(o.Exclude, ","),
		StartOff:        o.StartOff,
		Enabled:         v.Traceable,
		Reason:          v.Message,
	})
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(o.Root, ConfigFile), append(raw, '\n'), 0o644)
}
