package verify

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// A loggedCall is one call of the reference log.
type loggedCall struct {
	thread        int
	index         uint64 // number of the call on its thread
	entered, left uint64 // order numbers of its two lines in the process
	function      string
	from, to      int64 // ns, read around the call; 0: not in the log
	enter, exit   int64 // ticks, as in the call's record; 0: not in the log
	result        int64
	in, out       []argument
	finished      bool // the call returned
	inRaw, outRaw string
}

// readLog reads a process's log, thread by thread.
func readLog(dir string) (map[int][]*loggedCall, error) {
	names, err := fs.Glob(os.DirFS(dir), "reference/*.log") // not filepath.Glob: dir is no pattern
	if err != nil {
		return nil, err
	}
	sort.Strings(names)
	threads := map[int][]*loggedCall{}
	for _, name := range names {
		path := filepath.Join(dir, name)
		thread, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(path), ".log"))
		if err != nil {
			return nil, fmt.Errorf("%s: not the log of a thread", path)
		}
		if threads[thread], err = readThread(path, thread); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return threads, nil
}

const maxLine = 1 << 30

func readThread(path string, thread int) ([]*loggedCall, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var calls []*loggedCall
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 1<<16), maxLine)
	lines.Split(wholeLines)
	for number := 1; lines.Scan(); number++ {
		if calls, err = addLine(calls, lines.Text(), thread); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	return calls, lines.Err()
}

// wholeLines splits text into lines. What has no end is none: the process ended
// while it was written.
func wholeLines(data []byte, atEOF bool) (advance int, line []byte, err error) {
	if advance, line, err = bufio.ScanLines(data, false); advance == 0 && atEOF {
		advance = len(data)
	}
	return advance, line, err
}

// addLine adds a line to the calls. Values are parsed when they are compared.
func addLine(calls []*loggedCall, line string, thread int) ([]*loggedCall, error) {
	kind, rest, _ := strings.Cut(line, " ")
	indexText, rest, _ := strings.Cut(rest, " ")
	orderText, rest, _ := strings.Cut(rest, " ")
	subject, arguments, _ := strings.Cut(rest, " ")
	index, err := strconv.ParseUint(indexText, 10, 64)
	if err != nil {
		return nil, err
	}
	orderText, window, timed := strings.Cut(orderText, "@")
	order, err := strconv.ParseUint(orderText, 10, 64)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "C":
		if index != uint64(len(calls)) {
			return nil, fmt.Errorf("call %d where %d was expected", index, len(calls))
		}
		return append(calls, &loggedCall{thread: thread, index: index, entered: order, function: subject, inRaw: arguments}), nil
	case "R":
		if index >= uint64(len(calls)) || calls[index].finished {
			return nil, fmt.Errorf("return of call %d, which is not open", index)
		}
		call := calls[index]
		call.left, call.outRaw, call.finished = order, arguments, true
		if timed {
			if _, err := fmt.Sscanf(window, "%d:%d:%d:%d", &call.from, &call.to, &call.enter, &call.exit); err != nil {
				return nil, fmt.Errorf("%q: %w", window, err)
			}
		}
		if call.result, err = strconv.ParseInt(subject, 10, 64); err != nil {
			return nil, err
		}
		return calls, nil
	}
	return nil, fmt.Errorf("%q is not a kind of line", kind)
}

// parse reads the arguments of both lines.
func (c *loggedCall) parse() (err error) {
	if c.in, err = parseArguments(c.inRaw); err != nil {
		return err
	}
	c.out, err = parseArguments(c.outRaw)
	return err
}

func parseArguments(s string) ([]argument, error) {
	if s == "" {
		return nil, nil
	}
	var list []argument
	for field := range strings.SplitSeq(s, " ") { // texts have no spaces
		name, value, ok := strings.Cut(field, "=")
		if !ok {
			return nil, fmt.Errorf("%q: %w", field, errToken)
		}
		t, err := parseToken(value)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", field, err)
		}
		list = append(list, argument{name: name, value: t, raw: value})
	}
	return list, nil
}
