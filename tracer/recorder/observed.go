package recorder

// What the shim observes of a process beside its calls is one file (tracer/shim/observed.h): the process's life, its context
// and the evidence, each from its own offset. Where the spool was all but full it ends after the first.
const (
	observedFile     = "observed"
	observedContext  = 512
	observedEvidence = 8192
	maxObserved      = 16 << 20
)

// An observed is the content of the file, empty where there was none.
type observed []byte

func (o observed) life() []byte     { return o.upTo(observedContext) }
func (o observed) context() []byte  { return o.upTo(observedEvidence)[len(o.life()):] }
func (o observed) evidence() []byte { return o[len(o.upTo(observedEvidence)):] }

func (o observed) upTo(end int) []byte { return o[:min(end, len(o))] }
