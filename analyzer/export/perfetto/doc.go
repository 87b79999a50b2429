// Package perfetto writes a trace for the Perfetto UI (https://ui.perfetto.dev), which shows it as a time line.
//
// In go a trace, a time range and a choice of ranks; out comes a file in Perfetto's protocol buffer format
// (protos/perfetto/trace/trace_packet.proto of the Perfetto project): a track per rank and thread with a slice per MPI
// call, an arrow per message from the call that sent it to the call that completed its receive, and the critical path
// as a track of its own; the phases as another (package phases), and as counters the parallel efficiency, the bytes that
// were sent and not yet received, of all ranks and of each that sent them, and of each rank the CPU use, the waiting for a
// CPU and the throttling that the operating system counted (trace.ContextSample).
//
// Times are nanoseconds since the run began, on the clock that all ranks have in common. Calls that end before their cause,
// by rounded times, are moved after it (package causality), so that arrows point forward; the critical path and the phases
// are as the report has them. How a message becomes an arrow: calls.go.
package perfetto
