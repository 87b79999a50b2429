// Command primingen makes priming.bin, which is part of the trace format, of priming.txt, which can be read: lines with
// texts in quotes and bytes as numbers, and comments.
package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
)

func main() {
	out := flag.String("o", "priming.bin", "where it goes")
	flag.Parse()
	if flag.NArg() != 1 {
		fail(fmt.Errorf("usage: primingen -o priming.bin priming.txt"))
	}
	text, err := os.ReadFile(flag.Arg(0))
	if err != nil {
		fail(err)
	}
	b, err := parse(string(text))
	if err == nil {
		err = os.WriteFile(*out, b, 0o644)
	}
	if err != nil {
		fail(fmt.Errorf("%s: %w", flag.Arg(0), err))
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "primingen:", err)
	os.Exit(1)
}

func parse(text string) ([]byte, error) {
	var b []byte
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for _, word := range strings.Fields(line) { // texts have no spaces
			if strings.HasPrefix(word, `"`) {
				s, err := strconv.Unquote(word)
				if err != nil {
					return nil, fmt.Errorf("line %d: %s is no text in quotes", i+1, word)
				}
				b = append(b, s...)
				continue
			}
			x, err := strconv.ParseUint(word, 10, 8)
			if err != nil {
				return nil, fmt.Errorf("line %d: %s is no byte", i+1, word)
			}
			b = append(b, byte(x))
		}
	}
	return b, nil
}
