//go:build !amd64

package clock

func timeStampCounter() int64 { return 0 }

// The shim uses CLOCK_MONOTONIC where there is no time stamp counter.
const hasTimeStampCounter = false
