// Package inject adds the tracer to an MPIJob: it takes a specification and returns the same one
// with Cairn's containers, volumes and mounts. It is a pure function, and idempotent.
//
// Each pod of the job gets three init containers. cairn-install (Cairn's image) copies the tracer
// into a volume. cairn-probe (the user's image) examines the environment and writes the preload
// file and the tracer's configuration. cairn-ship (Cairn's image, a native sidecar) sends traces to
// storage during the job and after it.
//
// A job that re-executes a trace has a fourth: cairn-fetch (Cairn's image) copies the trace from
// storage. The launcher's command then ends with the re-execution instead of a program (replay.go).
//
// The container that runs MPI gets the preload file mounted over /etc/ld.so.preload, because
// environment variables do not reach the ranks that sshd starts. The tracer's libraries are
// read-only there: a user who could replace them would be root in the next setuid program. Only the
// spool is writable.
//
// Only the sidecar has the storage's key. A template that mounts one of Cairn's volumes is refused.
// The sidecar has a user that no container of the pod has. If containers see each other's
// processes, none of them may be able to take that user.
package inject
