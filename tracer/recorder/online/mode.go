package online

import (
	"fmt"
	"strconv"
	"strings"
)

// A Mode is how a process takes part in clustering: the mode in process.json.
type Mode struct {
	Clustered bool
	// IgnoreArguments: only functions and call sites are compared, not arguments (Chameleon's
	// parameter filter).
	IgnoreArguments bool
	// Frames is the number of outermost frames of a call path that may differ. (ScalaTrace II's
	// approximate matching allows any frames to differ, as `cairn clusters` does. That is no
	// equivalence relation, so hashes cannot implement it.)
	Frames int
	// WaitSeconds is how long the shim waits at a marker for the other ranks before it
	// ends clustering.
	WaitSeconds int
}

// DefaultWaitSeconds is the default of Mode.WaitSeconds.
const DefaultWaitSeconds = 60

// String formats the mode as ParseMode reads it.
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

// ParseMode parses "full" (or nothing) or "clustered". The latter may be followed by
// arguments=ignored, frames=N (of a call path, 0 to 64) and wait=SECONDS (1 to 3600).
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
