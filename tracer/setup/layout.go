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

// CallSites are the ways in which places of calls are kept: not, the place of the call, or with all its callers.
var CallSites = []string{"none", "caller", "path"}

// Config is the tracer's configuration file; the shim reads it.
type Config struct {
	Spool           string `json:"spool"`
	CallSites       string `json:"call_sites"` // one of CallSites
	Pointers        bool   `json:"pointers,omitempty"`
	Timing          string `json:"timing,omitempty"` // as timing.ParseSettings reads it; "" keeps every time stamp
	Mode            string `json:"mode,omitempty"`   // as online.ParseMode reads it; "" records every rank by itself
	Verify          bool   `json:"verify"`
	SharedSpool     bool   `json:"shared_spool,omitempty"` // with a sidecar, which is another user and owns it
	SpoolLimitBytes int64  `json:"spool_limit_bytes,omitempty"`
	SegmentBytes    int64  `json:"segment_bytes,omitempty"`
	Include         string `json:"include,omitempty"`   // groups of functions (mpi.Group) to record, with commas; "": all
	Exclude         string `json:"exclude,omitempty"`   // groups to leave out
	StartOff        bool   `json:"start_off,omitempty"` // record only lives of handles until MPI_Pcontrol(1)
	Enabled         bool   `json:"enabled"`
	Reason          string `json:"reason,omitempty"` // why not enabled, for people
}

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
