package messages

// Objects below a job's storage that both sides name.
const (
	// IndexFile lists the runs of a job: Index. The merge writes it after the last run.
	IndexFile = "runs.json"
	// TraceFile and ReportDirectory are below a run's ID.
	TraceFile       = "trace.cairn"
	ReportDirectory = "report/"
	// FindingsDirectory is below a run's ID. It contains <analysis>.json, or <analysis>.failed.json
	// (Failure).
	FindingsDirectory = "findings/"
	// SummaryFile and PageFile exist if a job has several runs, and link to their reports.
	SummaryFile = "summary.txt"
	PageFile    = "index.html"
)

// Index is the content of IndexFile: all runs of a job, in the order of their numbers. An analysis
// gets its run from this list, not from a listing of the store, so that all pods agree on the
// order.
type Index struct {
	Runs []Run `json:"runs"`
}

// Failure is the content of the object of an analysis that failed permanently on a run. The report
// quotes it.
type Failure struct {
	Message string `json:"message"`
}
