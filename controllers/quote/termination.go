package quote

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-mpi/cairn/api/messages"
)

// MaxLength is the longest quotation of somebody's words in a condition.
const MaxLength = 700

// Termination are what a termination message says to a person: the text of one in JSON, and of what the kubelet
// took from the end of a container's log the line that says most. It is one line, and never JSON.
func Termination(raw string) string {
	raw = strings.TrimSpace(raw)
	if !strings.HasPrefix(raw, "{") {
		raw = telling(strings.Split(raw, "\n"))
	}
	if strings.HasPrefix(raw, "{") {
		raw = jsonWords(raw)
	}
	return Shorten(strings.Join(strings.Fields(strings.TrimPrefix(raw, "cairn: ")), " "), MaxLength)
}

// telling is the line of a log that says why a program ended: where a Go program panicked that line, else the last one
// that is no part of a stack.
func telling(lines []string) string {
	for _, line := range lines {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return line
		}
	}
	for _, line := range slices.Backward(lines) {
		noise := strings.TrimSpace(line) == "" || strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "goroutine ") ||
			strings.HasPrefix(line, "created by ") || strings.HasPrefix(line, "exit status ")
		if !noise {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// jsonWords is the text of a message in JSON, also of one that was cut.
func jsonWords(raw string) string {
	var message struct {
		Message string                   `json:"message"`
		Failed  string                   `json:"failed"`
		Storage *messages.StorageTrouble `json:"storage"`
		Reason  string                   `json:"reason"`
	}
	if json.Unmarshal([]byte(raw), &message) != nil {
		return cutText(raw, "message")
	}
	if message.Storage == nil {
		message.Storage = &messages.StorageTrouble{}
	}
	return cmp.Or(message.Message, message.Failed, message.Storage.Message, string(message.Storage.Reason), message.Reason)
}

// cutText is the text of a field in JSON that ends too early, as far as it goes; "" if it does not get there.
func cutText(raw, field string) string {
	_, text, found := strings.Cut(raw, `"`+field+`":`)
	text = strings.TrimSpace(text)
	if !found || !strings.HasPrefix(text, `"`) {
		return ""
	}
	if quoted, err := strconv.QuotedPrefix(text); err == nil {
		var whole string
		if json.Unmarshal([]byte(quoted), &whole) == nil {
			return whole
		}
	}
	// The end is missing, and perhaps half an escape before it.
	for cut := range 6 {
		if end := len(text) - cut; end > 0 {
			var part string
			if json.Unmarshal([]byte(text[:end]+`"`), &part) == nil {
				return part + "…"
			}
		}
	}
	return ""
}
