package quote

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-mpi/cairn/api/messages"
)

// MaxLength is the maximum length of a quotation in a condition.
const MaxLength = 700

// Termination returns the text of a termination message for people, on one line. For JSON it is the
// message's text; for the end of a container's log, which the kubelet copies, it is the most
// informative line.
func Termination(raw string) string {
	raw = strings.TrimSpace(raw)
	if !strings.HasPrefix(raw, "{") {
		raw = causeLine(strings.Split(raw, "\n"))
	}
	if strings.HasPrefix(raw, "{") {
		raw = jsonWords(raw)
	}
	return Shorten(strings.Join(strings.Fields(strings.TrimPrefix(raw, "cairn: ")), " "), MaxLength)
}

// causeLine returns the line of a log that explains why a program ended: the line of a Go panic, or
// else the last line that is not part of a stack trace.
func causeLine(lines []string) string {
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

// jsonWords returns the text of a JSON message, even if the message was cut.
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

// cutText returns the text of a field in truncated JSON, as far as it exists; "" if the field is
// missing.
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
	// The end is missing, and perhaps an escape sequence is cut.
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
