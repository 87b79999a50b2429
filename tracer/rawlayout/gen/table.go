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
	segment = structure{c: "SEGMENT", goName: "Segment", magic: "CAIRNSEG", open: true,
		doc: "A segment begins with this header, of SegmentHeader bytes; its records follow.",
		fields: []field{text("magic", "Magic", 8), u32("format", "Format"), u32("thread", "Thread"), word("sequence", "Sequence"),
			word("used", "Used"), word("dropped", "Dropped"), word("ticks", "Ticks"), word("monotonic_ns", "MonotonicNS"),
			word("realtime_ns", "RealtimeNS"), text("stopped", "Stopped", stoppedText)}}
	record = structure{c: "RECORD", goName: "Record",
		doc: "A record begins with this header; its words follow.",
		fields: []field{u32("length", "Length"), u16("function", "Function"), u8("binding", "Binding"), u8("flags", "Flags"),
			u32("reserved", "Reserved"), u32("state", "State"), word("epoch", "Epoch"), word("enter", "Enter"), word("exit", "Exit"),
			word("caller", "Caller"), word("result", "Result")}}
	life = structure{c: "LIFE", goName: "Life", magic: "CAIRNLF1",
		doc: "The first part of the file that is observed of a process: what it left of its end.",
		fields: []field{text("magic", "Magic", 8), word("alive", "Alive"), word("signal", "Signal"), word("signal_at", "SignalTicks"),
			word("exit", "Exit"), word("exit_at", "ExitTicks"), word("lost", "Lost"), word("finalized", "Finalized")}}
	contextSample = structure{c: "CONTEXT_SAMPLE", goName: "ContextSample",
		doc: "A sample of what the operating system counts for the process.",
		fields: []field{signed("monotonic_ns", "MonotonicNS"), signed("cpu_ns", "CPUNS"), signed("voluntary", "Voluntary"),
			signed("involuntary", "Involuntary"), signed("throttled_periods", "ThrottledPeriods"), signed("throttled_ns", "ThrottledNS"),
			signed("cpu", "CPU"), signed("run_delay_ns", "RunDelayNS"), signed("steal_ns", "StealNS")}}
	context = structure{c: "CONTEXT", goName: "Context", magic: "CAIRNCX3",
		doc:    "The second part: how many samples there are, and in which of the two tables (32 bits each).",
		fields: []field{text("magic", "Magic", 8), word("count", "Count"), of("table", "Table", &contextSample, 2, contextSamples)}}
	evidenceSums = structure{c: "EVIDENCE_SUMS", goName: "EvidenceSums", goStruct: true,
		doc: "EvidenceSums are what passed in the instances of a row that were measured.",
		fields: []field{word("count", "Count"), signed("wall_ns", "Wall"), signed("cpu_ns", "CPU"), signed("delay_ns", "Delay"),
			signed("other_ns", "Other"), signed("blocked_ns", "Blocked"), signed("seen_ns", "Seen"), signed("io_bytes", "IOBytes"),
			signed("io_calls", "IOCalls"), signed("data_ns", "Data")}}
	evidenceRow = structure{c: "EVIDENCE_ROW", goName: "EvidenceRow", goStruct: true,
		doc: "An EvidenceRow is about the computations between two call sites, or the calls at one.",
		fields: []field{u32("thread", "Thread"), u16("after", "After"), u16("before", "Before"), word("after_caller", "AfterCaller"),
			word("before_caller", "BeforeCaller"), word("ticks", "Ticks"), word("which", "Which"), of("sums", "Sums", &evidenceSums, 2)}}
	evidenceInstance = structure{c: "EVIDENCE_INSTANCE", goName: "EvidenceInstance", goStruct: true,
		doc: "An EvidenceInstance is one of the largest.",
		fields: []field{signed("size", "Size"), word("row", "Row"), word("begin_ticks", "Begin"), signed("wall_ns", "Wall"),
			signed("cpu_ns", "CPU"), signed("delay_ns", "Delay"), signed("io_bytes", "IO")}}
	evidenceThread = structure{c: "EVIDENCE_THREAD", goName: "EvidenceThread", goStruct: true,
		doc: "An EvidenceThread is what a thread of the process has used.",
		fields: []field{signed("tid", "TID"), signed("cpu_ns", "CPU"), signed("delay_ns", "Delay"), signed("flags", "Flags"),
			text("name", "Name", evidenceThreadName)}}
	evidence = structure{c: "EVIDENCE", goName: "Evidence", magic: "CAIRNEV2", goStruct: true,
		doc: "Evidence is the third part.",
		fields: []field{text("magic", "Magic", 8), word("rows", "Rows"), word("threads", "Threads"),
			of("instances", "Instances", &evidenceInstance, 2, evidenceInstances), of("thread", "Thread", &evidenceThread, 2, evidenceThreads),
			of("row", "Row", &evidenceRow, evidenceRows)}}
	outcome = structure{c: "OUTCOME", goName: "Outcome",
		doc: "The words of an outcome of a vote, in a record of clustering; the lead ranks follow.",
		fields: []field{word("step", "Step"), word("number", "Number"), word("kind", "Kind"), word("ordinal", "Ordinal"),
			word("state", "State"), word("stands", "Stands"), word("factor", "Factor"), word("lead", "Lead"),
			word("overhead", "Overhead"), word("leads", "Leads")}}
	account = structure{c: "ACCOUNT", goName: "Account", magic: "CAIRNBG1",
		doc:    "The account of a spool.",
		fields: []field{text("magic", "Magic", 8), signed("limit", "Limit"), signed("used", "Used"), signed("refused", "Refused")}}
)

var structures = []*structure{
	&segment, &record, &life, &contextSample, &context, &evidenceSums, &evidenceRow, &evidenceInstance, &evidenceThread, &evidence, &outcome, &account,
}

// A constant has a name in C and one in Go; the latter is "" if no reader needs it.
type constant struct {
	c, goName string
	value     uint64
	doc       string
}

var constants = []constant{
	{"CAIRN_SEGMENT_FORMAT", "SegmentFormat", 1, ""},
	{"CAIRN_SEGMENT_HEADER", "SegmentHeader", 4096, "bytes of a segment before its records"},
	{"CAIRN_STOPPED_BYTES", "SegmentStoppedBytes", stoppedText, "of a segment's text, up to a zero byte: why tracing stopped"},
	{"CAIRN_TRUNCATED", "FlagTruncated", 1, "flag of a record: there was no room for the arguments"},
	{"CAIRN_MARKER", "FlagMarker", 2, "flag of a record: the call counts among the markers"},

	{"CAIRN_ENTRY_MODULE", "EntryModule", 1, "types of entries in the dictionary"},
	{"CAIRN_ENTRY_PATH", "EntryPath", 2, ""},
	{"CAIRN_ENTRY_SEGMENT", "EntrySegment", 3, ""},
	{"CAIRN_ENTRY_LINE", "EntryLine", 4, ""},
	{"CAIRN_ENTRY_MARK", "EntryMark", 2, "on top of a word of a record that stands for an entry: no address of a program has it"},
	{"CAIRN_ENTRY_SHIFT", "EntryShift", 62, ""},
	{"CAIRN_LINE_BIT", "LineBit", 61, "of such a word, in the place of a return address: the entry is a line"},
	{"CAIRN_OFFSET_BITS", "OffsetBits", 40, "of such a word, in the place of a pointer: below the number, the offset"},

	{"CAIRN_OBSERVED_LIFE", "ObservedLife", 0, "where the parts of the file begin that has what is observed beside the calls"},
	{"CAIRN_OBSERVED_CONTEXT", "ObservedContext", 512, ""},
	{"CAIRN_OBSERVED_EVIDENCE", "ObservedEvidence", 8192, ""},

	{"CAIRN_CONTEXT_SAMPLES", "ContextSamples", contextSamples, "rows of tables"},
	{"CAIRN_EVIDENCE_ROWS", "EvidenceRows", evidenceRows, ""},
	{"CAIRN_EVIDENCE_INSTANCES", "EvidenceInstances", evidenceInstances, "by time without CPU, and as many by length"},
	{"CAIRN_EVIDENCE_THREADS", "EvidenceThreads", evidenceThreads, ""},

	{"CAIRN_VOTE_RECORD", "VoteRecord", 0xffff, "in the place of the function, in a record that is no call: of clustering"},
	{"CAIRN_VOTE_CUT", "VoteCut", 0, "what such a record says, by its first word: an interval ends (number of the vote on it)"},
	{"CAIRN_VOTE_OVERHEAD", "VoteOverhead", 1, "tracer overhead of the thread since its last call: ticks"},
	{"CAIRN_VOTE_OUTCOME", "VoteOutcome", 2, "what the ranks decided"},

	{"CAIRN_STATE_ALL", "", uint64(trace.VoteAll), "as trace.VoteState"},
	{"CAIRN_STATE_CLUSTERED", "", uint64(trace.VoteClustered), ""},
	{"CAIRN_STATE_LEAD", "", uint64(trace.VoteLead), ""},
	{"CAIRN_STATE_ENDED", "", uint64(trace.VoteEnded), ""},
	{"CAIRN_MOST_STAND_IN_CALLS", "", trace.MaxExtrapolatedCalls, "as trace.MaxExtrapolatedCalls"},

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
