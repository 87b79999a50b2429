// Package cpus says what ranks had of the CPUs, as the operating system counted it.
//
// A rank that shares its CPU with others waits for its turn in the middle of whatever it does, and who is to hear from it
// waits along; one that its CPU limit stops does, too. If that happens to all ranks alike nobody stands out, and on a time
// line it looks like a slow network. What the operating system counted (trace.ContextSample) tells it apart.
package cpus
