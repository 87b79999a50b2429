package settings

import "strings"

// Settings is config.json: the tracer's configuration in the processes that load it.
type Settings struct {
	Spool           string `json:"spool"`
	CallSites       string `json:"call_sites"`
	Pointers        bool   `json:"pointers,omitempty"`
	Timing          string `json:"timing,omitempty"` // in the form of timing.ParseSettings; "" keeps every time stamp
	Mode            string `json:"mode,omitempty"`   // a mode and its settings; "" records every rank on its own
	Verify          bool   `json:"verify"`
	SharedSpool     bool   `json:"shared_spool,omitempty"` // a sidecar, which is another user, owns the spool
	SpoolLimitBytes int64  `json:"spool_limit_bytes,omitempty"`
	BufferBytes     int64  `json:"segment_bytes,omitempty"`
	// groups of functions (mpi.Group) to record, comma-separated; "": all
	Include  string `json:"include,omitempty"`
	Exclude  string `json:"exclude,omitempty"`   // groups to leave out
	StartOff bool   `json:"start_off,omitempty"` // record only lifetimes of handles until MPI_Pcontrol(1)
	Enabled  bool   `json:"enabled"`
	Reason   string `json:"reason,omitempty"` // why tracing is not enabled, for people
}

// An Option is a field of Settings.
type Option struct {
	// Key is its name in config.json.
	Key string
	// Field is its name in the shim's struct, where that is not the key.
	Field string
	// Flags set it: none, one, or for a text of several words one flag for the first word and
	// one for all others.
	Flags []Flag
	// Room is the size in bytes of the shim's buffer for a text, including the terminating 0; 0:
	// the shim does not read it.
	Room int
	// Otherwise is the shim's value of a switch that is neither true nor false in the file.
	Otherwise bool
}

// A Flag is a flag of the commands that write config.json.
type Flag struct {
	Name    string
	Default string
	// Values are the allowed values; nil: see the help.
	Values []string
	// List reports that the flag may be given several times, or with a comma-separated list.
	List bool
	// Help is the help of both commands; Run and Probe are used if they differ. A command without
	// help lacks the flag.
	Help, Run, Probe string
}

// Sizes of the shim's buffers for texts.
const (
	path  = 4096
	line  = 4096
	words = 256
	word  = 64
)

// Options are all fields of Settings, in the order of the probe's arguments.
var Options = []Option{
	{Key: "spool", Room: path},
	{Key: "spool_limit_bytes", Flags: []Flag{{
		Name: "spool-limit-bytes", Default: "0",
		Probe: "bytes that a process may write before tracing stops (0: no limit)",
	}}},
	{Key: "timing", Room: line, Flags: []Flag{{
		Name: "timing", Default: "lossy", Values: []string{"lossy", "lossless", "aggregated"},
		Help: "lossy: gaps and durations within an error bound; lossless: every time stamp; aggregated: statistics for each kind of call",
	}, {
		Name: "timing-error", List: true,
		Help: "with --timing lossy: the error in percent, 1 to 50 (default 5), for all functions or, as MPI_Barrier=1, for one",
	}}},
	{Key: "include", Room: words, Flags: []Flag{{
		Name: "include", List: true, Values: groups,
		Help: "record only these groups of functions (" + strings.Join(groups, ", ") + ")",
	}}},
	{Key: "exclude", Room: words, Flags: []Flag{{
		Name: "exclude", List: true, Values: groups,
		Help: "do not record these groups; calls that create or free a handle are still recorded",
	}}},
	{Key: "start_off", Flags: []Flag{{
		Name: "start-off",
		Help: "record only the creation and release of handles until the program calls MPI_Pcontrol(1)",
	}}},
	{Key: "call_sites", Field: "call_sites_kept", Room: word, Flags: []Flag{{
		Name: "call-sites", Default: "caller", Values: []string{"none", "caller", "path"},
		Run:   "caller: record the call site of each call; path: record the whole call path; none: record neither",
		Probe: "none, caller, path",
	}}},
	{Key: "pointers", Flags: []Flag{{
		Name:  "pointers",
		Run:   "record the allocation that each pointer points into (heap, stack, static data, devices); every allocation takes a little longer",
		Probe: "load the library that tracks allocations",
	}}},
	{Key: "mode", Room: words, Flags: []Flag{{
		Name: "mode", Default: "full", Values: []string{"full", "clustered"},
		Help: "full: record times on every rank; clustered: record them on one rank per behavior while the behavior does not change. All ranks of the job must be traced",
	}, {
		Name: "clustering", List: true,
		Help: "with --mode clustered: arguments=ignored (compare only functions and call sites), frames=N (the N outermost frames of a call path may differ), wait=SECONDS (for the other ranks at a marker, default 60)",
	}}},
	{Key: "verify", Flags: []Flag{{
		Name: "verify",
		Run:  "write an independent log of every call, and compare the decoded trace with it",
	}}},
	{Key: "shared_spool"},
	{Key: "segment_bytes", Field: "buffer_bytes"},
	{Key: "enabled", Otherwise: true},
	{Key: "reason"},
}

// groups are the names of mpi.Groups.
var groups = []string{"p2p", "collective", "comm", "rma", "io", "datatype", "query", "tool", "environment"}
