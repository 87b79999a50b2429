// Package counts compares how many calls of each function each rank made: as counted by the example
// programs themselves, and in a decoded trace.
//
// The input is the output of the programs, lines `counts rank=R MPI_Send=12 …`, one or several per
// rank; or the output of `cairn dump --json`. The output is the number of calls by rank and
// function.
package counts

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// ByRank has the number of calls by rank and name of the function.
type ByRank map[int]map[string]uint64

func (b ByRank) of(rank int) map[string]uint64 {
	if b[rank] == nil {
		b[rank] = map[string]uint64{}
	}
	return b[rank]
}

// Printed parses the output of the programs. Other lines are ignored.
func Printed(output string) (ByRank, error) {
	counts := ByRank{}
	for line := range strings.Lines(output) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] != "counts" {
			continue
		}
		var rank int
		if _, err := fmt.Sscanf(fields[1], "rank=%d", &rank); err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		for _, field := range fields[2:] {
			name, value, _ := strings.Cut(field, "=")
			n, err := strconv.ParseUint(value, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", line, err)
			}
			counts.of(rank)[name] = n
		}
	}
	return counts, nil
}

// Decoded counts the calls of a trace in the output of `cairn dump --json`.
func Decoded(dump string) (ByRank, error) {
	counts := ByRank{}
	for line := range strings.Lines(dump) {
		var call struct {
			Rank     int
			Function string
		}
		if err := json.Unmarshal([]byte(line), &call); err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		counts.of(call.Rank)[call.Function]++
	}
	return counts, nil
}

// Calls is the number of all calls.
func (b ByRank) Calls() uint64 {
	var all uint64
	for _, functions := range b {
		for _, n := range functions {
			all += n
		}
	}
	return all
}
