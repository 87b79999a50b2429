package messages

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Kubernetes keeps 4 KiB of a container's termination message, and 12 KiB of a pod's, divided
// equally among all its containers and init containers. The kubelet cuts longer ones.
const (
	// MaxBytes applies to messages from the pods of Cairn's Jobs, which have at most two
	// containers.
	MaxBytes = 4096
	// MaxSharedBytes applies to messages from the job's pods, Ship and Probe: in addition to
	// Cairn's three containers there may be nine.
	MaxSharedBytes = 12 << 10 / 12
)

// Limits of texts in a message, in bytes.
const (
	maxText   = 700 // a sentence or two
	maxShared = 256 // one of several texts in a message of MaxSharedBytes; also the limit of a line of status.lost
	maxRanks  = 120 // a list of ranks of one run
)

// MaxRuns is the number of runs, the worst ones, that a message and the status of a TracedMPIJob
// list.
const MaxRuns = 16

// Encode returns the JSON of a message. It returns an error if Kubernetes would cut the message.
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

// limitOf returns the maximum length of a message in bytes.
func limitOf(message any) int {
	switch message.(type) {
	case Ship, Probe:
		return MaxSharedBytes
	}
	return MaxBytes
}

// Decode parses a message, and reports whether raw is one.
func Decode(raw string, into any) bool {
	return json.Unmarshal([]byte(raw), into) == nil
}

// Shorten cuts a text between runes and appends its original length.
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

// squeeze halves the longest of the texts until the message fits: a byte of text may take six bytes
// in JSON.
func squeeze(fits func() bool, texts ...*string) {
	for !fits() {
		longest := slices.MaxFunc(texts, func(a, b *string) int { return len(*a) - len(*b) })
		if *longest == "" {
			return
		}
		*longest = strings.ToValidUTF8((*longest)[:len(*longest)/2], "")
	}
}
