package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"
)

// A measurement is a line of a file: words that identify it, then numbers.
type measurement struct {
	words   []string
	numbers []float64
}

// readMeasurements reads lines with the given number of words and from minimum to maximum numbers,
// separated by spaces. Missing numbers are NaN.
func readMeasurements(from io.Reader, words, minimum, maximum int) ([]measurement, error) {
	var all []measurement
	lines := bufio.NewScanner(from)
	for n := 1; lines.Scan(); n++ {
		fields := strings.Fields(lines.Text())
		if len(fields) < words+minimum || len(fields) > words+maximum {
			return nil, fmt.Errorf("line %d has %d fields, not %d words and %d to %d numbers: %s", n, len(fields), words, minimum, maximum, lines.Text())
		}
		m := measurement{words: fields[:words]}
		for _, f := range fields[words:] {
			x, err := strconv.ParseFloat(f, 64)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			m.numbers = append(m.numbers, x)
		}
		for len(m.numbers) < maximum {
			m.numbers = append(m.numbers, math.NaN())
		}
		all = append(all, m)
	}
	return all, lines.Err()
}

// readFile calls readMeasurements for a file.
func readFile(path string, words, minimum, maximum int) ([]measurement, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	all, err := readMeasurements(file, words, minimum, maximum)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return all, nil
}

// rounds are the measurements by name: for each name a list with the numbers of each round.
type rounds map[string][][]float64

// byRound groups measurements by their words except the one that is the round. Rounds are in the
// order of the file.
func byRound(all []measurement, round int) rounds {
	r := rounds{}
	for _, m := range all {
		name := strings.Join(slices.Delete(slices.Clone(m.words), round, round+1), " ")
		r[name] = append(r[name], m.numbers)
	}
	return r
}

// column returns one of the numbers of a name in each round.
func (r rounds) column(name string, number int) []float64 {
	var column []float64
	for _, numbers := range r[name] {
		column = append(column, numbers[number])
	}
	return column
}

// check returns an error for names that were not measured in every round.
func (r rounds) check(names ...string) error {
	for _, name := range names {
		if n, first := len(r[name]), len(r[names[0]]); n == 0 || n != first {
			return fmt.Errorf("%q was measured %d times, and %q %d times", name, n, names[0], first)
		}
	}
	return nil
}

// less is a − b, round by round.
func less(a, b []float64) []float64 {
	difference := slices.Clone(a)
	for i := range difference {
		difference[i] -= b[i]
	}
	return difference
}

// median is the middle value, or the lower of the two middle ones: always a measured value.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return stat.Quantile(0.5, stat.Empirical, sorted, nil)
}

// numbers parses arguments as numbers.
func numbers(args []string) ([]float64, error) {
	list := make([]float64, len(args))
	for i, a := range args {
		var err error
		if list[i], err = strconv.ParseFloat(a, 64); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// errMissed is the error of a command whose table shows a missed target.
var errMissed = errors.New("a target was missed")

func missedUnless(met bool) error {
	if met {
		return nil
	}
	return errMissed
}

// verdict returns the word for a target in a table.
func verdict(met bool) string {
	if met {
		return "pass"
	}
	return "miss"
}
