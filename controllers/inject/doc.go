// Package inject puts the tracer into an MPIJob: a specification goes in, the same
// with Cairn's containers, volumes and mounts comes out. It is a pure function, and
// applied a second time it changes nothing.
//
// Each pod of the job gets three init containers. cairn-install (Cairn's image)
// copies the tracer into a volume. cairn-probe (the user's image) looks at what is
// really there and writes the preload file and the tracer's configuration.
// cairn-ship (Cairn's image, a native sidecar) sends traces to storage while the
// job runs and after it.
//
// A job that re-executes a trace has a fourth: cairn-fetch (Cairn's image) copies the
// trace out of storage. The launcher's command then ends with the re-execution in
// the place of a program (replay.go).
//
// The container that runs MPI gets the preload file over /etc/ld.so.preload,
// because environment variables do not reach the ranks that sshd starts. The
// tracer's libraries are read-only there: whoever could replace them would be root
// in the next setuid program. Only the spool is writable.
//
// Nobody but the sidecar has the storage's key: a template that mounts one of Cairn's
// volumes is refused, the sidecar has a user that no container of the pod has, and
// where containers see each other's processes none may be able to take that user.
package inject
