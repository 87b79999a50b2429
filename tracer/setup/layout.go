package setup

import "github.com/cairn-mpi/cairn/api/messages"

// Names below the tracer's root.
const (
	PreloadFile = "ld.so.preload"
	ConfigFile  = "config.json"
	// InstallFile has the Verdict of a failed installation; the probe passes it on.
	InstallFile = "install.json"
	// AllocationsLibrary is also preloaded if pointers are recorded.
	AllocationsLibrary = "libcairn-allocations.so"
)

// An ABI is an MPI ABI with a shim.
type ABI = string

// The ABIs. MPICH's is also Intel MPI's and MVAPICH's.
const (
	OpenMPI ABI = "openmpi"
	MPICH   ABI = "mpich"
)

// Shim is the file name of the library to preload for programs with an ABI.
func Shim(abi ABI) string { return "libcairn-" + abi + ".so" }

// tracerArchitectures are those with tracer libraries.
var tracerArchitectures = []string{"amd64", "arm64"}

// A Verdict is the termination message of both commands: whether this pod can be traced.
type Verdict = messages.Probe

// refuse turns v into a verdict against tracing.
func refuse(v *Verdict, reason messages.ProbeReason, message string) {
	v.Traceable, v.Reason, v.Message = false, reason, message
}
