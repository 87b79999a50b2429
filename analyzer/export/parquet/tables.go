package parquet

// SchemaVersion is incremented when a column is removed or changes its meaning, not for new columns
// and tables.
const SchemaVersion = 1

// The rows of the tables. A field that is a pointer, or optional, may be null;
// docs/tables.md says when.

type callRow struct {
	CallID        int64  `parquet:"call_id"`
	Rank          int32  `parquet:"rank,dict"`
	Thread        int32  `parquet:"thread,dict"`
	Index         int64  `parquet:"index"`
	Function      string `parquet:"function,dict"`
	EnterNS       *int64 `parquet:"enter_ns,optional"`
	ExitNS        *int64 `parquet:"exit_ns,optional"`
	DurationNS    *int64 `parquet:"duration_ns,optional"`
	WaitingNS     *int64 `parquet:"waiting_ns,optional"`
	CallSite      string `parquet:"call_site,optional,dict"`
	SiteID        *int32 `parquet:"site_id,optional,dict"`
	Communicator  string `parquet:"communicator,optional,dict"`
	CommID        *int32 `parquet:"comm_id,optional,dict"`
	Peer          *int32 `parquet:"peer,optional,dict"`
	Root          *int32 `parquet:"root,optional,dict"`
	Tag           *int32 `parquet:"tag,optional,dict"`
	Count         *int64 `parquet:"count,optional,dict"`
	Bytes         *int64 `parquet:"bytes,optional,dict"`
	Datatype      string `parquet:"datatype,optional,dict"`
	Operation     string `parquet:"operation,optional,dict"`
	Arguments     string `parquet:"arguments,dict"`
	Error         string `parquet:"error,optional,dict"`
	UntracedSince bool   `parquet:"untraced_since"`
	Unfinished    bool   `parquet:"unfinished"`
	TimesOf       *int32 `parquet:"times_of,optional,dict"`
}

type messageRow struct {
	SendRank       int32  `parquet:"send_rank,dict"`
	SendThread     int32  `parquet:"send_thread,dict"`
	SendCallID     int64  `parquet:"send_call_id"`
	RecvRank       int32  `parquet:"recv_rank,dict"`
	RecvThread     int32  `parquet:"recv_thread,dict"`
	RecvPostCallID int64  `parquet:"recv_post_call_id"`
	RecvCallID     *int64 `parquet:"recv_call_id,optional"`
	Communicator   string `parquet:"communicator,optional,dict"`
	CommID         int32  `parquet:"comm_id,dict"`
	Tag            int32  `parquet:"tag,dict"`
	Bytes          *int64 `parquet:"bytes,optional,dict"`
	SendEnterNS    int64  `parquet:"send_enter_ns"`
	SendExitNS     int64  `parquet:"send_exit_ns"`
	RecvPostNS     int64  `parquet:"recv_post_ns"`
	RecvExitNS     *int64 `parquet:"recv_exit_ns,optional"`
	LateNS         int64  `parquet:"late_ns"`
}

type waitRow struct {
	Rank        int32  `parquet:"rank,dict"`
	Thread      int32  `parquet:"thread,dict"`
	CallID      int64  `parquet:"call_id"`
	Kind        string `parquet:"kind,dict"`
	BeginNS     int64  `parquet:"begin_ns"`
	EndNS       int64  `parquet:"end_ns"`
	WaitingNS   int64  `parquet:"waiting_ns"`
	ErrorNS     int64  `parquet:"error_ns"`
	Function    string `parquet:"function,dict"`
	CallSite    string `parquet:"call_site,optional,dict"`
	CauseRank   int32  `parquet:"cause_rank,dict"`
	CauseThread int32  `parquet:"cause_thread,dict"`
	CauseCallID *int64 `parquet:"cause_call_id,optional"`
}

type pathRow struct {
	Segment    int32  `parquet:"segment,delta"`
	Rank       int32  `parquet:"rank,dict"`
	StartNS    int64  `parquet:"start_ns"`
	EndNS      int64  `parquet:"end_ns"`
	DurationNS int64  `parquet:"duration_ns"`
	Kind       string `parquet:"kind,dict"`
	Function   string `parquet:"function,optional,dict"`
	CallSite   string `parquet:"call_site,optional,dict"`
	Merged     int32  `parquet:"merged_segments,dict"`
}

type ledgerRow struct {
	Rank   *int32 `parquet:"rank,optional"`
	What   string `parquet:"what,dict"`
	Label  string `parquet:"label,dict"`
	TimeNS int64  `parquet:"time_ns"`
}

type rankRow struct {
	Rank             int32  `parquet:"rank"`
	Host             string `parquet:"host,dict"`
	Pod              string `parquet:"pod,optional,dict"`
	Node             string `parquet:"node,optional,dict"`
	Executable       string `parquet:"executable,optional,dict"`
	Threads          int32  `parquet:"threads,dict"`
	Calls            int64  `parquet:"calls"`
	ComputationNS    int64  `parquet:"computation_ns"`
	MPINS            int64  `parquet:"mpi_ns"`
	WaitingNS        *int64 `parquet:"waiting_ns,optional"`
	CausedWaitingNS  *int64 `parquet:"caused_waiting_ns,optional"`
	PathNS           *int64 `parquet:"path_ns,optional"`
	SlackNS          *int64 `parquet:"slack_ns,optional"`
	InitializationNS int64  `parquet:"initialization_ns"`
	FinalizationNS   int64  `parquet:"finalization_ns"`
	EndedEarly       string `parquet:"ended_early,optional,dict"`
}

type communicatorRow struct {
	CommID  int32   `parquet:"comm_id"`
	Name    string  `parquet:"name"`
	Label   string  `parquet:"label,optional"`
	Size    int32   `parquet:"size"`
	Members []int32 `parquet:"members,list"`
	Remote  []int32 `parquet:"remote_members,list"`
}

type siteRow struct {
	SiteID   int32    `parquet:"site_id"`
	CallSite string   `parquet:"call_site"`
	File     string   `parquet:"file,optional,dict"`
	Line     *int32   `parquet:"line,optional"`
	Function string   `parquet:"function,optional"`
	Module   string   `parquet:"module,dict"`
	BuildID  string   `parquet:"build_id,dict"`
	Offset   int64    `parquet:"offset"`
	Path     []string `parquet:"path,list"`
}
