package v1alpha1

// The conditions of a TracedMPIJob. They are its only state: they determine what is done and what
// comes next.
const (
	// ConditionStorageReady is True once an object was written, read and deleted in the storage
	// with the job's own credentials.
	ConditionStorageReady = "StorageReady"
	// ConditionTraced is True once the tracer found what it needs in the pods.
	ConditionTraced = "Traced"
	// ConditionJobFinished is True once the launcher has ended permanently.
	ConditionJobFinished = "JobFinished"
	// ConditionTraceCollected is True once the traces of all ranks have arrived.
	ConditionTraceCollected = "TraceCollected"
	// ConditionTraceMerged is True once there is one trace per run.
	ConditionTraceMerged = "TraceMerged"
	// ConditionAnalyzed is True once all analyses of all runs have succeeded.
	ConditionAnalyzed = "Analyzed"
	// ConditionReady is True once a report exists, even if the job failed. "kubectl get" shows its
	// reason as the state.
	ConditionReady = "Ready"
)

// Conditions lists all condition types in the order in which they come true.
var Conditions = []string{
	ConditionStorageReady, ConditionTraced, ConditionJobFinished, ConditionTraceCollected,
	ConditionTraceMerged, ConditionAnalyzed, ConditionReady,
}

// Reasons of several conditions.
const (
	// ReasonPending: a previous step is not done.
	ReasonPending = "Pending"
	// ReasonDisabled: tracing.mode is Disabled.
	ReasonDisabled = "TracingDisabled"
	// ReasonNotClustered: mode is Clustered, but every rank is recorded by itself. A reason of an
	// event.
	ReasonNotClustered = "NotClustered"
	// ReasonNameConflict: an object that Cairn must create exists and belongs to someone else.
	// Cairn continues when that object is gone.
	ReasonNameConflict = "NameConflict"
	// ReasonRefused: the API server, a quota, Pod Security or an admission webhook refuses an
	// object that is needed. The message quotes the refusal. Cairn tries again.
	ReasonRefused = "Refused"
	// ReasonNotTraced: the job ran without the tracer, so there is nothing to do.
	ReasonNotTraced = "NotTraced"
)

// Reasons of events that do not belong to a condition.
const (
	// ReasonRetried: the annotation cairn.dev/retry restarted a step.
	ReasonRetried = "Retried"
	// ReasonNotRetried: the annotation requests nothing that can be done.
	ReasonNotRetried = "NotRetried"
	// ReasonNothingToDelete: the storage of a deleted job never worked, so that it had no trace.
	ReasonNothingToDelete = "NothingToDelete"
)

// Reasons of StorageReady. CredentialsMissing, AccessDenied, BucketMissing and Unreachable are also
// results of "cairn check-storage".
const (
	// ReasonStorageWritable (True): the check passed.
	ReasonStorageWritable = "Writable"
	// ReasonStorageChecking: the first check is running.
	ReasonStorageChecking = "Checking"
	// ReasonStorageNotConfigured: neither the job nor the installation names a storage.
	ReasonStorageNotConfigured = "NotConfigured"
	// ReasonCredentialsMissing: the Secret or one of its keys is missing.
	ReasonCredentialsMissing = "CredentialsMissing"
	// ReasonAccessDenied: the store refuses these credentials.
	ReasonAccessDenied = "AccessDenied"
	// ReasonBucketMissing: the store has no such bucket.
	ReasonBucketMissing = "BucketMissing"
	// ReasonUnreachable: the endpoint does not respond.
	ReasonUnreachable = "Unreachable"
	// ReasonStorageCheckFailed: any other problem. The message describes it.
	ReasonStorageCheckFailed = "CheckFailed"
)

// Reasons of Traced, in addition to those of "cairn probe": NoMPI, UnsupportedLibc,
// UnsupportedArchitecture, UnsupportedMPI, StaticBinary, InternalError, ProbeTimedOut.
const (
	// ReasonTraceable (True): every pod that was probed can be traced.
	ReasonTraceable = "Traceable"
	// ReasonInjectionFailed: the template conflicts with the tracer.
	ReasonInjectionFailed = "InjectionFailed"
	// ReasonProbeFailed: the probe did not report a result.
	ReasonProbeFailed = "ProbeFailed"
)

// Reasons of JobFinished.
const (
	// ReasonJobNotCreated: the MPIJob does not exist, for the reason that Ready states.
	ReasonJobNotCreated = "NotCreated"
	// ReasonJobStarting: the MPIJob exists, but its launcher has not started.
	ReasonJobStarting = "Starting"
	// ReasonJobRunning: the launcher is running.
	ReasonJobRunning = "Running"
	// ReasonJobSuspended: the MPIJob is suspended.
	ReasonJobSuspended = "Suspended"
	// ReasonJobNeverStarted (True): the job can never start. The message has the reason.
	ReasonJobNeverStarted = "NeverStarted"
	// ReasonJobSucceeded (True): the launcher ended with exit code 0.
	ReasonJobSucceeded = "Succeeded"
	// ReasonJobFailed (True): the launcher failed permanently. The message has its exit code.
	ReasonJobFailed = "Failed"
)

// Reasons of TraceCollected and TraceMerged.
const (
	// ReasonAllRanks (True): the traces of all ranks arrived.
	ReasonAllRanks = "AllRanks"
	// ReasonRanksMissing: the traces of some ranks did not arrive. The message names them.
	ReasonRanksMissing = "RanksMissing"
	// ReasonCallsLost: the traces of all ranks arrived, but some calls were not recorded because a
	// limit was reached. The message states how many of how many, and which limit.
	ReasonCallsLost = "CallsLost"
	// ReasonTimesCoarse: all calls arrived, but some have only sums of times, because the spool
	// approached its limit or the compressor could not follow. The message states how many.
	ReasonTimesCoarse = "TimesCoarse"
	// ReasonCollecting: waiting for traces, then merging them.
	ReasonCollecting = "Collecting"
	// ReasonMerged (True): there is one trace per run.
	ReasonMerged = "Merged"
	// ReasonNoTrace: no rank left a trace.
	ReasonNoTrace = "NoTrace"
	// ReasonMergeFailed: the merge failed permanently.
	ReasonMergeFailed = "MergeFailed"
)

// Reasons of Analyzed.
const (
	// ReasonAnalyzing: analyses are running.
	ReasonAnalyzing = "Analyzing"
	// ReasonAnalyzed (True): all analyses of all runs succeeded.
	ReasonAnalyzed = "AllSucceeded"
	// ReasonAnalysisFailed: some analyses failed. The message names them.
	ReasonAnalysisFailed = "AnalysisFailed"
)

// Reasons of Ready, in addition to those of the condition that prevents it.
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
	// ReasonDeletingTrace: the object is being deleted, and its trace is deleted first.
	ReasonDeletingTrace = "DeletingTrace"
	// ReasonDeleteFailed: the trace cannot be deleted, so the object stays.
	ReasonDeleteFailed = "DeleteFailed"
)
