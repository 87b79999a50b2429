// Package perfetto writes a trace for the Perfetto UI (https://ui.perfetto.dev), which shows it as
// a timeline.
//
// The input is a trace, a time range and a selection of ranks. The output is a file in Perfetto's
// protocol buffer format (protos/perfetto/trace/trace_packet.proto of the Perfetto project):
//
//   - a track per rank and thread with a slice per MPI call, and an arrow per message from the call
//     that sent it to the call that completed its receive;
//   - the critical path and the phases (package phases) as tracks;
//   - counters: the parallel efficiency; the bytes in flight, in total and by sender; and for each
//     rank the CPU use, the waiting for a CPU and the throttling as counted by the operating system
//     (trace.ContextSample).
//
// Times are nanoseconds since the run began, on the common clock of all ranks. Calls that end
// before their cause, because of rounded times, are moved after it (package causality), so that
// arrows point forward; the critical path and the phases are those of the report. How a message
// becomes an arrow: calls.go.
package perfetto
