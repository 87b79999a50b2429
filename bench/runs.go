package main

import (
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"
)

// runs are what variants of a program printed, which ran in turns: for each run, the numbers of a
// line by the word that it begins with.
type runs map[string][]map[string][]float64

// alternately runs each variant several times, in turns. Every second time the order is reversed.
func alternately(times int, variants []string, run func(variant string) string) runs {
	r := runs{}
	variants = slices.Clone(variants)
	for range times {
		for _, v := range variants {
			r[v] = append(r[v], numbered(run(v)))
		}
		slices.Reverse(variants)
	}
	return r
}

// numbered returns the lines that are a word and numbers. Other lines are the program's own.
func numbered(text string) map[string][]float64 {
	lines := map[string][]float64{}
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 1 {
			if numbers, err := parse(words[1:]); err == nil {
				lines[words[0]] = numbers
			}
		}
	}
	return lines
}

func parse(words []string) ([]float64, error) {
	numbers := make([]float64, len(words))
	for i, w := range words {
		var err error
		if numbers[i], err = strconv.ParseFloat(w, 64); err != nil {
			return nil, err
		}
	}
	return numbers, nil
}

// of returns the k-th number of a line in each run of a variant.
func (r runs) of(variant, line string, k int) (all []float64) {
	for _, lines := range r[variant] {
		if len(lines[line]) <= k {
			fail("the variant %s did not print %s", variant, line)
		}
		all = append(all, lines[line][k])
	}
	return all
}

// added is how much more the variant has than another, run by run.
func (r runs) added(variant, base, line string, k int) []float64 {
	difference := r.of(variant, line, k)
	for i, x := range r.of(base, line, k) {
		difference[i] -= x
	}
	return difference
}

// median is the middle value, or the lower of the two middle ones: always a measured value.
func median(values []float64) float64 {
	return stat.Quantile(0.5, stat.Empirical, slices.Sorted(slices.Values(values)), nil)
}
