package program

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
)

// maxSome is the maximum number of functions that someOf lists.
const maxSome = 12

// someOf describes rows of different lengths if each has some of the same few functions, in one
// order: ranks at the edges of a grid have fewer neighbors than those inside.
func someOf(rows []row) (string, bool) {
	byValue := func(_ row, a *atom) (string, bool) {
		if a.isNumber {
			return strconv.FormatInt(a.number, 10), a.varies == nil
		}
		return a.text, a.varies == nil
	}
	byDistance := func(r row, a *atom) (string, bool) {
		return offsetOf("rank", a.number-int64(r.by.rank)), a.isNumber && a.varies == nil && r.by.known
	}
	for _, key := range []func(row, *atom) (string, bool){byValue, byDistance} {
		if words, found := supersequenceOf(rows, key); found {
			return "some of " + strings.Join(words, ", ") + " in turn", true
		}
	}
	return "", false
}

// supersequenceOf returns a short sequence of which all rows have parts; false if there is no short
// one, or if a word of it is one rank's only. Rows with repetitions have no such order.
func supersequenceOf(rows []row, key func(row, *atom) (string, bool)) ([]string, bool) {
	var sequences [][]string
	used, longest, seen := map[string]int{}, 0, map[string]bool{}
	for _, r := range rows {
		words := make([]string, len(r.atoms))
		for i := range r.atoms {
			word, fits := key(r, &r.atoms[i])
			if !fits || word == "" || slices.Contains(words[:i], word) || len(words) > maxSome {
				return nil, false
			}
			words[i] = word
			if used[word]++; len(used) > maxSome {
				return nil, false
			}
		}
		longest = max(longest, len(words))
		if all := strings.Join(words, "\x00"); !seen[all] {
			seen[all] = true
			sequences = append(sequences, words)
		}
	}
	for _, n := range used {
		if n < 2 {
			return nil, false
		}
	}
	// every word occurs once, so that the order is that of all pairs
	slices.SortStableFunc(sequences, func(a, b []string) int { return cmp.Compare(len(b), len(a)) })
	var all []string
	for _, words := range sequences {
		all = overlaid(all, words)
	}
	return all, len(all) == len(used) && len(all) <= 2*longest
}

// overlaid returns the words of both lists in order, equal ones once.
func overlaid(a, b []string) []string {
	var all []string
	few := maxAlignment // there are at most maxSome words
	laid, _ := alignment(newSearch(context.Background()), &few, a, b, func(x, y string) int {
		if x == y {
			return 1
		}
		return 0
	})
	for _, p := range laid {
		if p[0] >= 0 {
			all = append(all, a[p[0]])
		} else {
			all = append(all, b[p[1]])
		}
	}
	return all
}
