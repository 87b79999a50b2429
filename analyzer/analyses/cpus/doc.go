// Package cpus reports the CPU time of ranks and why they lacked CPUs, as counted by the operating
// system.
//
// A rank that shares its CPU waits for it in the middle of any activity, and so do the ranks that
// depend on it. The same is true of a rank that is stopped by its CPU limit. If it happens to all
// ranks alike, no rank stands out, and the time line looks like that of a slow network. The counts
// of the operating system (trace.ContextSample) distinguish the two.
package cpus
