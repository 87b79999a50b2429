package main

import (
	"runtime"
	"runtime/debug"
)

// keepSmall limits the Go runtime's share of a node that belongs to the application: one running
// thread, and a heap that is collected early once it is large. The environment's settings
// (GOMAXPROCS, GOGC, GOMEMLIMIT) may be meant for the application itself, so they are ignored.
func keepSmall() {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(50)
	debug.SetMemoryLimit(softMemoryLimit)
}

// softMemoryLimit is the heap size in bytes above which the collector works harder; it
// is no hard limit.
const softMemoryLimit = 256 << 20
