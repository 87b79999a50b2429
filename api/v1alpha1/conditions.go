package v1alpha1

// The conditions of a TracedMPIJob. They are its only state: whoever reads them
// knows what is done and what comes next.
const (
	// ConditionStorageReady is True once an object was written to, read from and
	// deleted in the storage with the job's own credentials.
	ConditionStorageReady = "StorageReady"
	// ConditionTraced is True once the tracer found in the pods what it needs.
	ConditionTraced = "Traced"
	// ConditionJobFinished is True once the launcher has ended for good.
	ConditionJobFinished = "JobFinished"
	// ConditionTraceCollected is True when the traces of all ranks arrived.
	ConditionTraceCollected = "TraceCollected"
	// ConditionTraceMerged is True once there is one trace per run.
	ConditionTraceMerged = "TraceMerged"
	// ConditionAnalyzed is True when all analyses of all runs succeeded.
	ConditionAnalyzed = "Analyzed"
	// ConditionReady is True once a report exists, also that of a failed job. Its
	// reason is what "kubectl get" shows as the state.
	ConditionReady = "Ready"
)

// Conditions lists all condition types in the order in which they come true.
var Conditions = []string{
	ConditionStorageReady, ConditionTraced, ConditionJobFinished, ConditionTraceCollected,
	ConditionTraceMerged, ConditionAnalyzed, ConditionReady,
}

// Reasons of several conditions.
const (
	// ReasonPending: something else comes first.
	ReasonPending = "Pending"
	// ReasonDisabled: tracing.mode is Disabled.
	ReasonDisabled = "TracingDisabled"
	// ReasonNotClustered: mode is Clustered, but every rank is recorded by itself. Of an event.
	ReasonNotClustered = "NotClustered"
	// ReasonNameConflict: an object that Cairn must create exists and belongs to
	// someone else. Cairn goes on when it is gone.
	ReasonNameConflict = "NameConflict"
	// ReasonRefused: the API server, a quota, Pod Security or an admission webhook
	// refuses an object that is needed; the message has the refuser's words. It is
	// tried again.
	ReasonRefused = "Refused"
	// ReasonNotTraced: the job ran without the tracer, so there is nothing to do.
	ReasonNotTraced = "NotTraced"
)

// Reasons of events that belong to no condition.
const (
	// ReasonRetried: the annotation cairn.dev/retry has started a step again.
	ReasonRetried = "Retried"
	// ReasonNotRetried: it asks for nothing that can be done.
	ReasonNotRetried = "NotRetried"
	// ReasonNothingToDelete: a job whose storage never worked is gone without a trace.
	ReasonNothingToDelete = "NothingToDelete"
)

// Reasons of StorageReady. CredentialsMissing, AccessDenied, BucketMissing and
// Unreachable are also what "cairn check-storage" answers.
const (
	// ReasonStorageWritable (True): the check passed.
	ReasonStorageWritable = "Writable"
	// ReasonStorageChecking: the first check is on its way.
	ReasonStorageChecking = "Checking"
	// ReasonStorageNotConfigured: neither the job nor the installation names one.
	ReasonStorageNotConfigured = "NotConfigured"
	// ReasonCredentialsMissing: the Secret or one of its keys is missing.
	ReasonCredentialsMissing = "CredentialsMissing"
	// ReasonAccessDenied: the store refuses these credentials.
	ReasonAccessDenied = "AccessDenied"
	// ReasonBucketMissing: the store has no such bucket.
	ReasonBucketMissing = "BucketMissing"
	// ReasonUnreachable: no answer from the endpoint.
	ReasonUnreachable = "Unreachable"
	// ReasonStorageCheckFailed: anything else; the message says what.
	ReasonStorageCheckFailed = "CheckFailed"
)

// Reasons of Traced, besides those of "cairn probe": NoMPI, UnsupportedLibc,
// UnsupportedArchitecture, UnsupportedMPI, StaticBinary, InternalError, ProbeTimedOut.
const (
	// ReasonTraceable (True): every pod that was looked at can be traced.
	ReasonTraceable = "Traceable"
	// ReasonInjectionFailed: the template leaves no room for the tracer.
	ReasonInjectionFailed = "InjectionFailed"
	// ReasonProbeFailed: the probe did not say what it found.
	ReasonProbeFailed = "ProbeFailed"
)

// Reasons of JobFinished.
const (
	// ReasonJobNotCreated: the MPIJob does not exist, for the reason that Ready has.
	ReasonJobNotCreated = "NotCreated"
	// ReasonJobStarting: the MPIJob exists, its launcher has not started.
	ReasonJobStarting = "Starting"
	// ReasonJobRunning: the launcher runs.
	ReasonJobRunning = "Running"
	// ReasonJobSuspended: the MPIJob is suspended.
	ReasonJobSuspended = "Suspended"
	// ReasonJobNeverStarted (True): the job could never start; the message says why.
	ReasonJobNeverStarted = "NeverStarted"
	// ReasonJobSucceeded (True): the launcher ended with exit code 0.
	ReasonJobSucceeded = "Succeeded"
	// ReasonJobFailed (True): the launcher failed for good; the message has its exit
	// code.
	ReasonJobFailed = "Failed"
)

// Reasons of TraceCollected and TraceMerged.
const (
	// ReasonAllRanks (True): the traces of all ranks arrived.
	ReasonAllRanks = "AllRanks"
	// ReasonRanksMissing: the traces of some ranks did not; the message names them.
	ReasonRanksMissing = "RanksMissing"
	// ReasonCallsLost: all ranks' traces arrived, but calls were not recorded because a
	// limit was reached; the message says how many of how many, and which limit.
	ReasonCallsLost = "CallsLost"
	// ReasonTimesCoarse: all calls arrived, but of some only sums of times, because the spool
	// neared its limit while the storage did not take them; the message says of how many.
	ReasonTimesCoarse = "TimesCoarse"
	// ReasonCollecting: waiting for traces, then merging them.
	ReasonCollecting = "Collecting"
	// ReasonMerged (True): there is one trace per run.
	ReasonMerged = "Merged"
	// ReasonNoTrace: no rank left a trace.
	ReasonNoTrace = "NoTrace"
	// ReasonMergeFailed: the merge failed for good.
	ReasonMergeFailed = "MergeFailed"
)

// Reasons of Analyzed.
const (
	// ReasonAnalyzing: analyses are running.
	ReasonAnalyzing = "Analyzing"
	// ReasonAnalyzed (True): all analyses of all runs succeeded.
	ReasonAnalyzed = "AllSucceeded"
	// ReasonAnalysisFailed: some analyses failed; the message names them.
	ReasonAnalysisFailed = "AnalysisFailed"
)

// Reasons of Ready, besides those of the condition that holds it up.
const (
	// ReasonReportReady (True): the job succeeded and its report exists.
	ReasonReportReady = "ReportReady"
	// ReasonJobFailedReportReady (True): the job failed and its report exists.
	ReasonJobFailedReportReady = "JobFailedReportReady"
	// ReasonStorageNotReady: the job waits for working storage.
	ReasonStorageNotReady = "StorageNotReady"
	// ReasonInvalidTemplate: mpi-operator would refuse mpiJobTemplate.
	ReasonInvalidTemplate = "InvalidTemplate"
	// ReasonReporting: the report is being written.
	ReasonReporting = "Reporting"
	// ReasonReportFailed: the report could not be written.
	ReasonReportFailed = "ReportFailed"
	// ReasonDeletingTrace: the object is being deleted, its trace first.
	ReasonDeletingTrace = "DeletingTrace"
	// ReasonDeleteFailed: the trace cannot be deleted, so the object stays.
	ReasonDeleteFailed = "DeleteFailed"
)
