package quote

import (
	"strings"
)

// Shorten cuts s to at most limit bytes, after a word if one ends nearby, and marks the cut with an
// ellipsis.
func Shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const mark = "…"
	cut := limit - len(mark)
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	if s[cut] != ' ' {
		if space := strings.LastIndexByte(s[:cut], ' '); space > max(cut-maxWord, 0) {
			cut = space
		}
	}
	return strings.TrimRight(s[:cut], " ,;:") + mark
}

// maxWord is the length up to which a word is not cut.
const maxWord = 64
