package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// line is a line of a text file that is neither blank nor a comment.
type line struct {
	file   string
	number int
	indent bool // the line belongs to the block above it
	fields []string
}

func (l line) errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", l.file, l.number, fmt.Sprintf(format, args...))
}

// readLines splits a text file into lines; a # starts a comment.
func readLines(file string, r io.Reader) ([]line, error) {
	var lines []line
	s := bufio.NewScanner(r)
	for n := 1; s.Scan(); n++ {
		text, _, _ := strings.Cut(s.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		lines = append(lines, line{file, n, text[0] == ' ' || text[0] == '\t', fields})
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return lines, nil
}
