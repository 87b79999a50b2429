package setup

import "github.com/cairn-mpi/cairn/api/messages"

// Names below the tracer's root.
const (
	PreloadFile = "ld.so.preload"
	ConfigFile  = "config.json"
	// InstallFile has the Verdict of an installation that failed: the probe passes it on.
	InstallFile = "install.json"
	CoreLibrary = "libcairn-core.so"
	// AllocationsLibrary is preloaded too where pointers are to be kept.
	AllocationsLibrary = "libcairn-allocations.so"
)

// ABI is one of the MPI ABIs that have a shim.
type ABI = string

// The ABIs. MPICH's is also Intel MPI's and MVAPICH's.
const (
	OpenMPI ABI = "openmpi"
	MPICH   ABI = "mpich"
)

// Shim is the file name of the library to preload for programs with an ABI.
func Shim(abi ABI) string { return "libcairn-" + abi + ".so" }

// TracerArchitecture is the only one that the tracer's libraries are built for.
const TracerArchitecture = "amd64"

// A Verdict is the termination message of both commands: whether this pod can be traced.
type Verdict = messages.Probe

// refuse turns v into a verdict against tracing.
func refuse(v *Verdict, reason messages.ProbeReason, message string) {
	v.Traceable, v.Reason, v.Message = false, reason, message
}
