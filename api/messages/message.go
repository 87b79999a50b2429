package messages

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// What Kubernetes keeps of termination messages: 4 KiB of a container's, and 12 KiB of a pod's, of which each container and
// init container has an equal part. The kubelet cuts what is longer.
const (
	// MaxBytes is for messages from the pods of our Jobs, which have two containers at most.
	MaxBytes = 4096
	// MaxSharedBytes is for messages from the job's pods, Ship and Probe: beside our three containers there may be nine.
	MaxSharedBytes = 12 << 10 / 12
)

// Limits of texts in a message, in bytes.
const (
	maxText   = 700 // a sentence or two
	maxShared = 256 // one of several texts in a message of MaxSharedBytes; a status keeps as much of a line of lost ranks
	maxRanks  = 120 // a list of ranks of one run
)

// MaxRuns is how many runs a message and the status of a TracedMPIJob list: the worst ones.
const MaxRuns = 16

// Encode gives the JSON of a message. The error is for one that Kubernetes would cut.
func Encode(message any) ([]byte, error) {
	raw, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	if limit := limitOf(message); len(raw) > limit {
		return nil, fmt.Errorf("a termination message of %d bytes is more than the %d that Kubernetes keeps", len(raw), limit)
	}
	return raw, nil
}

// limitOf is how long a message may be.
func limitOf(message any) int {
	switch message.(type) {
	case Ship, Probe:
		return MaxSharedBytes
	}
	return MaxBytes
}

// Decode reads a message, and reports whether there is one.
func Decode(raw string, into any) bool {
	return json.Unmarshal([]byte(raw), into) == nil
}

// Shorten cuts a text at a rune and says how long it was.
func Shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	suffix := fmt.Sprintf("… (%d bytes)", len(s))
	return strings.ToValidUTF8(s[:max(limit-len(suffix), 0)], "") + suffix
}

func fits(message any) bool {
	_, err := Encode(message)
	return err == nil
}

// squeeze halves the longest of the texts until the message fits: JSON may need six bytes for one of a text.
func squeeze(fits func() bool, texts ...*string) {
	for !fits() {
		longest := slices.MaxFunc(texts, func(a, b *string) int { return len(*a) - len(*b) })
		if *longest == "" {
			return
		}
		*longest = strings.ToValidUTF8((*longest)[:len(*longest)/2], "")
	}
}
