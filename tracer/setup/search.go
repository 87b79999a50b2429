package setup

import (
	"bytes"
	"errors"
	"io"
	"regexp"
)

// Files of an image may have any size, and the probe has little memory, so they are
// searched in windows. Windows overlap, so that every match of up to overlap bytes is
// completely in one of them.
const (
	windowBytes  = 256 << 10
	overlapBytes = 4 << 10
)

// eachWindow calls see with consecutive windows of r until it returns false or r ends. at is the
// offset of the window. Matches that begin at whole or later may be cut off; the next window has
// them completely. Windows with only zeros, of which sparse files are full, are skipped.
func eachWindow(r io.Reader, see func(window []byte, at int64, whole int) (more bool)) error {
	buffer, zeros := make([]byte, windowBytes), make([]byte, windowBytes)
	kept, at := 0, int64(0)
	for {
		n, err := io.ReadFull(r, buffer[kept:])
		window := buffer[:kept+n]
		ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !ended {
			return err
		}
		whole := len(window) - overlapBytes
		if ended {
			whole = len(window)
		}
		if !bytes.Equal(window, zeros[:len(window)]) && !see(window, at, whole) || ended {
			return nil
		}
		kept = copy(buffer, window[whole:])
		at += int64(whole)
	}
}

// firstMatch returns the groups of the first match of a pattern in the readers; nil
// if there is none.
func firstMatch(pattern *regexp.Regexp, readers ...io.Reader) []string {
	var groups []string
	for _, r := range readers {
		err := eachWindow(r, func(window []byte, _ int64, whole int) bool {
			if match := pattern.FindIndex(window); match == nil || match[0] >= whole {
				return true
			}
			for _, group := range pattern.FindSubmatch(window) {
				groups = append(groups, string(group))
			}
			return false
		})
		if err != nil || groups != nil {
			break
		}
	}
	return groups
}

// textsIn reports which of some texts the readers contain, in one pass. It stops at the first text;
// the others may then be missing from the result.
func textsIn(texts []string, readers ...io.Reader) map[string]bool {
	held := map[string]bool{}
	for _, r := range readers {
		// an unreadable part contains nothing
		_ = eachWindow(r, func(window []byte, _ int64, _ int) bool {
			for _, text := range texts {
				held[text] = held[text] || bytes.Contains(window, []byte(text))
			}
			return !held[texts[0]]
		})
		if held[texts[0]] {
			break
		}
	}
	return held
}

// offsetsOf returns the offsets of text in r, at most limit of them.
func offsetsOf(r io.Reader, text []byte, limit int) []int64 {
	var offsets []int64
	// an unreadable part contains nothing
	_ = eachWindow(r, func(window []byte, at int64, whole int) bool {
		for from := 0; len(offsets) < limit; {
			i := bytes.Index(window[from:], text)
			if i < 0 || from+i >= whole {
				return true
			}
			offsets = append(offsets, at+int64(from+i))
			from += i + 1
		}
		return false
	})
	return offsets
}
