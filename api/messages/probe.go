package messages

// ProbeReason is the reason why an image cannot be traced.
type ProbeReason string

// Reasons of a Probe.
const (
	ProbeTraceable               ProbeReason = ""
	ProbeNoMPI                   ProbeReason = "NoMPI"
	ProbeUnsupportedLibc         ProbeReason = "UnsupportedLibc"
	ProbeUnsupportedArchitecture ProbeReason = "UnsupportedArchitecture"
	ProbeUnsupportedMPI          ProbeReason = "UnsupportedMPI"
	ProbeStaticBinary            ProbeReason = "StaticBinary"
	ProbeInternalError           ProbeReason = "InternalError"
	// ProbeTimedOut: the image's file systems did not respond in time.
	ProbeTimedOut ProbeReason = "ProbeTimedOut"
)

// Probe is the termination message of "cairn probe": whether the image can be traced. "cairn
// install" writes the same message. There, Traceable is whether the tracer could be installed.
type Probe struct {
	Traceable    bool        `json:"traceable"`
	ABI          []string    `json:"abi"`
	MPI          string      `json:"mpi"` // "Open MPI 4.1.4"; several are separated by ", "
	Libc         string      `json:"libc"`
	Architecture string      `json:"architecture"`
	Reason       ProbeReason `json:"reason"`
	Message      string      `json:"message"`
}

// Fit shortens the message until it fits into a termination message.
func (p Probe) Fit() Probe {
	p.MPI, p.Libc, p.Message = Shorten(p.MPI, maxText), Shorten(p.Libc, maxText), Shorten(p.Message, maxText)
	squeeze(func() bool { return fits(p) }, &p.MPI, &p.Libc, &p.Message)
	return p
}
