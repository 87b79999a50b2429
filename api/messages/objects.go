package messages

// Objects below a job's storage that both sides name.
const (
	// IndexFile lists the runs of a job: Index. The merge writes it after the last run.
	IndexFile = "runs.json"
	// TraceFile and ReportDirectory lie below a run's ID.
	TraceFile       = "trace.cairn"
	ReportDirectory = "report/"
	// FindingsDirectory below a run's ID has <analysis>.json, or <analysis>.failed.json (Failure).
	FindingsDirectory = "findings/"
	// SummaryFile and PageFile are on all runs of a job, where there are several: they lead to the runs' reports.
	SummaryFile = "summary.txt"
	PageFile    = "index.html"
)

// Index is the object IndexFile: all runs of a job, in the order of their numbers. An analysis takes the run of its
// index from here, not from a listing, so that all pods agree on which one that is.
type Index struct {
	Runs []Run `json:"runs"`
}

// Failure is the object of an analysis that failed for good on a run: the report says so.
type Failure struct {
	Message string `json:"message"`
}
