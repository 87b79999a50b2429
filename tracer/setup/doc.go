// Package setup prepares a container for tracing.
//
// Install runs in our image. It copies the probe's binary and the tracer's libraries into a
// directory (/cairn in a pod), and creates there a preload file that loads nothing and an empty
// spool. Probe runs in the user's image, as any uid and without a shell. It examines the image
// (libc, architecture, MPI libraries, an /etc/ld.so.preload) and writes <root>/ld.so.preload,
// <root>/config.json and a verdict: whether this image can be traced, and if not why. The formats
// are in docs/decisions/0001-seams.md.
//
// Both return a verdict whatever happens. The probe reads files of any size in windows. It has a
// time limit, and it looks into network file systems only if somebody named the directory.
package setup
