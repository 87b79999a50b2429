package online

import (
	"fmt"
	"strconv"
	"strings"
)

// A Mode says how a process takes part in clustering: process.json's mode.
type Mode struct {
	Clustered bool
	// IgnoreArguments: calls have not changed if functions and call sites have not (Chameleon's parameter filter).
	IgnoreArguments bool
	// Frames is how many of the outermost frames of a call path may differ. (ScalaTrace II's approximate matching lets any
	// so many differ, as `cairn clusters` does; that is no equivalence, so ranks could not agree on it by hashes.)
	Frames int
	// WaitSeconds is how long the shim waits at a marker for the other ranks before it gives clustering up.
	WaitSeconds int
}

// DefaultWaitSeconds is how long a rank waits at a marker where nothing else is said.
const DefaultWaitSeconds = 60

// String writes what ParseMode reads.
func (m Mode) String() string {
	if !m.Clustered {
		return "full"
	}
	text := "clustered"
	if m.IgnoreArguments {
		text += " arguments=ignored"
	}
	if m.Frames > 0 {
		text += fmt.Sprintf(" frames=%d", m.Frames)
	}
	if m.WaitSeconds != DefaultWaitSeconds {
		text += fmt.Sprintf(" wait=%d", m.WaitSeconds)
	}
	return text
}

// ParseMode reads "full" (or nothing) or "clustered", which settings may follow: arguments=ignored, frames=N (of a call
// path, 0 to 64), wait=SECONDS (1 to 3600).
func ParseMode(text string) (Mode, error) {
	words := strings.Fields(text)
	m := Mode{WaitSeconds: DefaultWaitSeconds}
	if len(words) == 0 || len(words) == 1 && words[0] == "full" {
		return m, nil
	}
	if words[0] != "clustered" {
		return m, fmt.Errorf("the mode is full or clustered, not %q", words[0])
	}
	m.Clustered = true
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		n, err := strconv.Atoi(value)
		switch {
		case word == "arguments=ignored":
			m.IgnoreArguments = true
		case name == "frames" && err == nil && n >= 0 && n <= 64:
			m.Frames = n
		case name == "wait" && err == nil && n >= 1 && n <= 3600:
			m.WaitSeconds = n
		default:
			return m, fmt.Errorf("clustered is followed by arguments=ignored, frames=0 to 64 or wait=1 to 3600, not %q", word)
		}
	}
	return m, nil
}
