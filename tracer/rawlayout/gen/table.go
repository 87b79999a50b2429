package main

import "github.com/cairn-mpi/cairn/trace"

// A field is a field of a structure. Fields follow each other without gaps.
type field struct {
	c, goName string
	bytes     int    // of an element
	goType    string // of an element
	dims      []int  // of an array
}

func word(c, goName string) field   { return field{c: c, goName: goName, bytes: 8, goType: "uint64"} }
func signed(c, goName string) field { return field{c: c, goName: goName, bytes: 8, goType: "int64"} }
func u32(c, goName string) field    { return field{c: c, goName: goName, bytes: 4, goType: "uint32"} }
func u16(c, goName string) field    { return field{c: c, goName: goName, bytes: 2, goType: "uint16"} }
func u8(c, goName string) field     { return field{c: c, goName: goName, bytes: 1, goType: "uint8"} }
func text(c, goName string, bytes int) field {
	return field{c: c, goName: goName, bytes: 1, goType: "byte", dims: []int{bytes}}
}

// of returns a field that is an array of structures.
func of(c, goName string, s *structure, dims ...int) field {
	return field{c: c, goName: goName, bytes: s.size(), goType: s.goName, dims: dims}
}

func (f field) size() int {
	n := f.bytes
	for _, d := range f.dims {
		n *= d
	}
	return n
}

// A structure is the header of a file or record, or an element of one.
type structure struct {
	c, goName string // c is the prefix of its macros
	doc       string
	magic     string // "": it is a part of another structure
	goStruct  bool   // generate a Go type, too
	open      bool   // the C structure has more fields, which readers ignore
	fields    []field
}

func (s *structure) size() int {
	n := 0
	for _, f := range s.fields {
		n += f.size()
	}
	return n
}

// Sizes of tables.
const (
	contextSamples     = 32
	evidenceRows       = 512
	evidenceInstances  = 16
	evidenceThreads    = 16
	evidenceThreadName = 16
	stoppedText        = 1024
)

var (
	buffer = structure{c: "BUFFER", goName: "Buffer", magic: "CAIRNSEG", open: true,
		doc: "A record buffer begins with this header of BufferHeader bytes, followed by its records.",
		fields: []field{text("magic", "Magic", 8), u32("format", "Format"), u32("thread", "Thread"), word("sequence", "Sequence"),
			word("used", "Used"), word("dropped", "Dropped"), word("ticks", "Ticks"), word("monotonic_ns", "MonotonicNS"),
			word("realtime_ns", "RealtimeNS"), word("epoch", "Epoch"), word("taken", "Taken"), word("closed", "Closed"),
			word("unwound", "Unwound"), word("unwound_from", "UnwoundFrom"), word("began", "Began"), text("stopped", "Stopped", stoppedText)}}
	record = structure{c: "RECORD", goName: "Record",
		doc: "A record begins with this header, followed by its words.",
		fields: []field{u32("length", "Length"), u16("function", "Function"), u8("binding", "Binding"), u8("flags", "Flags"),
			u32("reserved", "Reserved"), u16("state", "State"), u16("next", "Next"), word("epoch", "Epoch"), word("enter", "Enter"), word("exit", "Exit"),
			word("caller", "Caller"), word("result", "Result")}}
	summed = structure{c: "SUMMED", goName: "Summed",
		doc: "A summed record has many calls that repeat originals. It begins with this header, followed by as many sums as rows says and by offsets of originals, four in a word.",
		fields: []field{u32("length", "Length"), u16("function", "Function"), u8("binding", "Binding"), u8("flags", "Flags"),
			u32("rows", "Rows"), u16("state", "State"), u16("next", "Next"), word("epoch", "Epoch"), word("enter", "Enter"), word("progress", "Progress")}}
	sums = structure{c: "SUMS", goName: "Sums",
		doc:    "A row of a summed record, about the calls that repeat one original (its offset, in the low 16 bits; 0: none): the sum of the gaps before them, above it, and that of their durations.",
		fields: []field{word("gap", "Gap"), word("duration", "Duration")}}
	life = structure{c: "LIFE", goName: "Life", magic: "CAIRNLF1",
		doc: "The life of a process is the first part of its file of observations: what is known of its end.",
		fields: []field{text("magic", "Magic", 8), word("alive", "Alive"), word("signal", "Signal"), word("signal_at", "SignalTicks"),
			word("exit", "Exit"), word("exit_at", "ExitTicks"), word("lost", "Lost"), word("finalized", "Finalized")}}
	ring = structure{c: "RING", goName: "Ring", magic: "CAIRNRG1",
		doc: "The ring is a part of the file of observations: what the compressor must know of the record buffers.",
		fields: []field{text("magic", "Magic", 8), word("filled", "Filled"), word("cuts", "Cuts"), word("once", "Once"), word("switches", "Switches"),
			word("switching_ns", "SwitchingNS"), word("longest_ns", "LongestNS")}}
	compressor = structure{c: "COMPRESSOR", goName: "Compressor", magic: "CAIRNCP1",
		doc: "What the compressor tells a process. A word for each buffer that is used again follows.",
		fields: []field{text("magic", "Magic", 8), word("bytes", "Bytes"), word("removed", "Removed"), word("cut", "Cut"),
			word("signature", "Signature"), word("unchanged", "Unchanged"), word("period", "Period"), word("calls", "Calls"),
			text("stopped", "Stopped", stoppedText)}}
	contextSample = structure{c: "CONTEXT_SAMPLE", goName: "ContextSample",
		doc: "A sample of what the operating system counts for the process.",
		fields: []field{signed("monotonic_ns", "MonotonicNS"), signed("cpu_ns", "CPUNS"), signed("voluntary", "Voluntary"),
			signed("involuntary", "Involuntary"), signed("throttled_periods", "ThrottledPeriods"), signed("throttled_ns", "ThrottledNS"),
			signed("cpu", "CPU"), signed("run_delay_ns", "RunDelayNS"), signed("steal_ns", "StealNS")}}
	context = structure{c: "CONTEXT", goName: "Context", magic: "CAIRNCX3",
		doc:    "The context is the second part of the file: the number of samples and the index of the valid table (32 bits each).",
		fields: []field{text("magic", "Magic", 8), word("count", "Count"), of("table", "Table", &contextSample, 2, contextSamples)}}
	pressure = structure{c: "PRESSURE", goName: "Pressure", magic: "CAIRNPS1",
		doc: "The pressure is a part of the file: what the kernel counts for the cgroup, since the begin, and for the TCP connections. −1: not known.",
		fields: []field{text("magic", "Magic", 8), signed("memory_ns", "MemoryNS"), signed("io_ns", "IONS"),
			signed("memory_limit_hits", "MemoryLimitHits"), signed("segments", "Segments"), signed("retransmits", "Retransmits")}}
	evidenceUsage = structure{c: "EVIDENCE_USAGE", goName: "EvidenceUsage", goStruct: true,
		doc: "EvidenceUsage is what getrusage counts for a thread, −1 where that is not known.",
		fields: []field{signed("minor_faults", "MinorFaults"), signed("major_faults", "MajorFaults"), signed("voluntary", "Voluntary"),
			signed("involuntary", "Involuntary"), signed("system_ns", "System")}}
	evidenceSums = structure{c: "EVIDENCE_SUMS", goName: "EvidenceSums", goStruct: true,
		doc: "EvidenceSums are sums over the measured instances of a row.",
		fields: []field{word("count", "Count"), signed("wall_ns", "Wall"), signed("cpu_ns", "CPU"), signed("delay_ns", "Delay"),
			signed("other_ns", "Other"), signed("blocked_ns", "Blocked"), signed("seen_ns", "Seen"), signed("io_bytes", "IOBytes"),
			signed("io_calls", "IOCalls"), signed("data_ns", "Data"), of("usage", "Usage", &evidenceUsage)}}
	evidenceRow = structure{c: "EVIDENCE_ROW", goName: "EvidenceRow", goStruct: true,
		doc: "An EvidenceRow is the evidence of the computations between two call sites, or of the calls at one.",
		fields: []field{u32("thread", "Thread"), u16("after", "After"), u16("before", "Before"), word("after_caller", "AfterCaller"),
			word("before_caller", "BeforeCaller"), word("ticks", "Ticks"), word("which", "Which"), of("sums", "Sums", &evidenceSums, 2)}}
	evidenceInstance = structure{c: "EVIDENCE_INSTANCE", goName: "EvidenceInstance", goStruct: true,
		doc: "An EvidenceInstance is one of the largest instances.",
		fields: []field{signed("size", "Size"), word("row", "Row"), word("begin_ticks", "Begin"), signed("wall_ns", "Wall"),
			signed("cpu_ns", "CPU"), signed("delay_ns", "Delay"), signed("io_bytes", "IO"), of("usage", "Usage", &evidenceUsage)}}
	evidenceThread = structure{c: "EVIDENCE_THREAD", goName: "EvidenceThread", goStruct: true,
		doc: "An EvidenceThread is the CPU usage of a thread of the process.",
		fields: []field{signed("tid", "TID"), signed("cpu_ns", "CPU"), signed("delay_ns", "Delay"), signed("flags", "Flags"),
			text("name", "Name", evidenceThreadName)}}
	evidence = structure{c: "EVIDENCE", goName: "Evidence", magic: "CAIRNEV3", goStruct: true,
		doc: "Evidence is the third part of the file.",
		fields: []field{text("magic", "Magic", 8), word("rows", "Rows"), word("threads", "Threads"),
			of("instances", "Instances", &evidenceInstance, 2, evidenceInstances), of("thread", "Thread", &evidenceThread, 2, evidenceThreads),
			of("row", "Row", &evidenceRow, evidenceRows)}}
	outcome = structure{c: "OUTCOME", goName: "Outcome",
		doc: "The words of the outcome of a vote, in a record of clustering, followed by the lead ranks.",
		fields: []field{word("step", "Step"), word("number", "Number"), word("kind", "Kind"), word("ordinal", "Ordinal"),
			word("state", "State"), word("lead_times", "LeadTimes"), word("factor", "Factor"), word("lead", "Lead"),
			word("overhead", "Overhead"), word("leads", "Leads")}}
	budget = structure{c: "BUDGET", goName: "Budget", magic: "CAIRNBG1",
		doc:    "The budget file of a spool.",
		fields: []field{text("magic", "Magic", 8), signed("limit", "Limit"), signed("used", "Used"), signed("refused", "Refused")}}
)

var structures = []*structure{
	&buffer, &record, &summed, &sums, &life, &ring, &compressor, &contextSample, &context, &pressure, &evidenceUsage, &evidenceSums, &evidenceRow, &evidenceInstance, &evidenceThread, &evidence, &outcome, &budget,
}

// A constant has a name in C and one in Go; the latter is "" if no reader needs it.
type constant struct {
	c, goName string
	value     uint64
	doc       string
}

var constants = []constant{
	{"CAIRN_BUFFER_FORMAT", "BufferFormat", 4, ""},
	{"CAIRN_BUFFER_HEADER", "BufferHeader", 4096, "bytes of a record buffer before its records"},
	{"CAIRN_STOPPED_BYTES", "BufferStoppedBytes", stoppedText, "size of a buffer's zero-terminated text: why tracing stopped"},
	{"CAIRN_COPIES", "Copies", 16, "number of copies of record buffers in a file"},
	{"CAIRN_RING", "RingBuffers", 64, "maximal number of record buffers of a process that are used again"},
	{"CAIRN_TRUNCATED", "FlagTruncated", 1, "flag of a record: there was no room for the arguments"},
	{"CAIRN_MARKER", "FlagMarker", 2, "flag of a record: the call is a marker for clustering"},
	{"CAIRN_LEFT", "FlagLeft", 4, "flag of a record: the call never returned, though its thread went on"},

	{"CAIRN_COMMITTED", "Committed", 1, "bit of a record's state; above it the number of words of header and inputs of an original"},
	{"CAIRN_INPUTS_SHIFT", "InputsShift", 1, ""},
	{"CAIRN_SHORT", "Short", 1, "bit of the first word of a short record; a record's length has it 0"},
	{"CAIRN_SHORT_OPEN", "ShortOpen", 0, "its state: the call has not returned"},
	{"CAIRN_SHORT_EQUAL", "ShortEqual", 1, "nothing follows: result, flags and outputs are the original's"},
	{"CAIRN_SHORT_OUTPUTS", "ShortOutputs", 2, "as many words of outputs follow as the original has"},
	{"CAIRN_SHORT_EXPLICIT", "ShortExplicit", 3, "a record's header without the caller follows, then the outputs"},
	{"CAIRN_SHORT_STATE_SHIFT", "ShortStateShift", 1, "positions in the first word"},
	{"CAIRN_SHORT_ORIGINAL_SHIFT", "ShortOriginalShift", 3, ""},
	{"CAIRN_SHORT_DURATION_SHIFT", "ShortDurationShift", 19, "open or explicit: bytes up to the next record"},
	{"CAIRN_SHORT_ENTER_BITS", "ShortEnterBits", 40, "low bits of the second word; above it the epoch"},

	{"CAIRN_SUMMED_RECORD", "SummedRecord", 0xfffe, "replaces the function in a summed record"},
	{"CAIRN_SUMMED_CALLS", "SummedCalls", 8192, "maximal number of calls in it"},
	{"CAIRN_SUMMED_COUNT_BITS", "SummedCountBits", 14, "low bits of its progress: how many there are; above it the exit of the last one, counted from enter"},

	{"CAIRN_ENTRY_MODULE", "EntryModule", 1, "types of entries in the dictionary"},
	{"CAIRN_ENTRY_PATH", "EntryPath", 2, ""},
	{"CAIRN_ENTRY_ALLOCATION", "EntryAllocation", 3, ""},
	{"CAIRN_ENTRY_LINE", "EntryLine", 4, ""},
	{"CAIRN_ENTRY_TAG", "EntryTag", 2, "upper bits of a word of a record that refers to an entry; no address of a program has them"},
	{"CAIRN_ENTRY_SHIFT", "EntryShift", 62, ""},
	{"CAIRN_LINE_BIT", "LineBit", 61, "bit of such a word that replaces a return address: the entry is a line"},
	{"CAIRN_OFFSET_BITS", "OffsetBits", 40, "low bits of such a word that replaces a pointer: the offset; the number is above it"},

	{"CAIRN_OBSERVED_LIFE", "ObservedLife", 0, "offsets of the parts of the file of observations"},
	{"CAIRN_OBSERVED_RING", "ObservedRing", 256, ""},
	{"CAIRN_OBSERVED_ANSWER", "ObservedAnswer", 512, "the compressor writes this part"},
	{"CAIRN_OBSERVED_CONTEXT", "ObservedContext", 2176, ""},
	{"CAIRN_OBSERVED_PRESSURE", "ObservedPressure", 7168, ""},
	{"CAIRN_OBSERVED_EVIDENCE", "ObservedEvidence", 8192, ""},

	{"CAIRN_CONTEXT_SAMPLES", "ContextSamples", contextSamples, "rows of tables"},
	{"CAIRN_EVIDENCE_ROWS", "EvidenceRows", evidenceRows, ""},
	{"CAIRN_EVIDENCE_INSTANCES", "EvidenceInstances", evidenceInstances, "by time off CPU, and as many by duration"},
	{"CAIRN_EVIDENCE_THREADS", "EvidenceThreads", evidenceThreads, ""},

	{"CAIRN_VOTE_RECORD", "VoteRecord", 0xffff, "replaces the function in a record of clustering, which is no call"},
	{"CAIRN_VOTE_CUT", "VoteCut", 0, "first word of such a record: an interval ends (number of the vote on it)"},
	{"CAIRN_VOTE_OVERHEAD", "VoteOverhead", 1, "tracer overhead of the thread since its last call: ticks"},
	{"CAIRN_VOTE_OUTCOME", "VoteOutcome", 2, "what the ranks decided"},

	{"CAIRN_STATE_ALL", "", uint64(trace.VoteAll), "as trace.VoteState"},
	{"CAIRN_STATE_CLUSTERED", "", uint64(trace.VoteClustered), ""},
	{"CAIRN_STATE_LEAD", "", uint64(trace.VoteLead), ""},
	{"CAIRN_STATE_ENDED", "", uint64(trace.VoteEnded), ""},
	{"CAIRN_MAX_EXTRAPOLATED_CALLS", "", trace.MaxExtrapolatedCalls, "as trace.MaxExtrapolatedCalls"},

	{"CAIRN_PROCESS_FORMAT", "ProcessFormat", 1, "of process.json"},
}

// keys are the keys of process.json, of its clock, of a module and of a constant.
var keys = []string{
	"format", "directory", "hostname", "pid", "executable", "arguments", "start_realtime_ns", "boot_id", "abi", "library_version",
	"launch_id", "clock", "call_sites", "timing", "mode", "page_size", "spool_limit_bytes", "segment_bytes", "excluded", "start_off",
	"shared_spool", "environment", "modules", "constants",
	"kind",
	"path", "build_id", "base", "limit",
	"name", "value",
}
