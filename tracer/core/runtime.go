package main

import (
	"runtime"
	"runtime/debug"
)

// keepSmall limits what the Go runtime takes of a node that belongs to the application: one thread at a time, and a
// heap that is collected early once it is large. The settings of the environment (GOMAXPROCS, GOGC, GOMEMLIMIT) may be
// meant for the application itself, and do not count.
func keepSmall() {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(50)
	debug.SetMemoryLimit(softMemoryLimit)
}

// softMemoryLimit makes the collector work harder above it; it is no hard limit.
const softMemoryLimit = 256 << 20
