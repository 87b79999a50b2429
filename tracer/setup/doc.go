// Package setup prepares a container for tracing.
//
// Install runs in our image: in go the probe's binary and the tracer's
// libraries, out comes a directory (/cairn in a pod) with both, a preload file
// that loads nothing and an empty spool. Probe runs in the user's image, as any
// uid and without a shell: in goes what is really there (libc, architecture, MPI
// libraries, an /etc/ld.so.preload), out come <root>/ld.so.preload,
// <root>/config.json and a verdict on whether, and why not, this image can be
// traced. The seams are in docs/decisions/0001-seams.md.
//
// Both give a verdict whatever happens. The probe reads files of any size a
// window at a time, looks into network file systems only where somebody named
// the directory, and for a limited time.
package setup
