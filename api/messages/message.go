package messages

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// MaxBytes is what Kubernetes keeps of a termination message.
const MaxBytes = 4096

// Limits of texts in a message, in bytes.
const (
	maxText  = 700 // a sentence or two
	maxRanks = 120 // a list of ranks of one run
)

// MaxRuns is how many runs a message and the status of a TracedMPIJob list: the worst ones.
const MaxRuns = 16

// Encode gives the JSON of a message. The error is for one that Kubernetes would cut.
func Encode(message any) ([]byte, error) {
	raw, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	if len(raw) > MaxBytes {
		return nil, fmt.Errorf("a termination message of %d bytes is more than the %d that Kubernetes keeps", len(raw), MaxBytes)
	}
	return raw, nil
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
