package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A value is a figure of a row. Lower is better unless Higher is set.
type value struct {
	Name   string  `json:"value"` // with its unit: "added, ns"
	Amount float64 `json:"amount"`
	Target string  `json:"target,omitempty"` // "<= 100"; empty: none
	Met    bool    `json:"met"`              // true without a target
	Higher bool    `json:"higher,omitempty"`
	Exact  bool    `json:"exact,omitempty"` // does not depend on chance
}

func val(name string, amount float64) value { return value{Name: name, Amount: amount, Met: true} }

func (v value) atMost(limit float64) value {
	v.Target, v.Met = "<= "+digits(limit), v.Amount <= limit
	return v
}

func (v value) atLeast(limit float64) value {
	v.Target, v.Met, v.Higher = ">= "+digits(limit), v.Amount >= limit, true
	return v
}

func (v value) equals(want float64) value {
	v.Target, v.Met = "= "+digits(want), v.Amount == want
	return v
}

// within is a target for a difference of either sign.
func (v value) within(limit float64) value {
	v.Target, v.Met = "within "+digits(limit), math.Abs(v.Amount) <= limit
	return v
}

func (v value) exact() value {
	v.Exact = true
	return v
}

// A line is a value in a file of results.
type line struct {
	Case string `json:"case"`
	Row  string `json:"row"`
	value
}

// A report prints rows for people and writes their values as lines of JSON.
type report struct {
	to             io.Writer
	results        io.Writer
	head           string // names of the values in the last row
	widths         []int  // of its columns
	judged, missed int    // targets
}

func (r *report) note(format string, args ...any) {
	r.head = ""
	fmt.Fprintf(r.to, format+"\n", args...)
}

// add reports a row of a case, with a remark at its end. A head is printed whenever the names of
// the values change.
func (r *report) add(of, row, remark string, values ...value) error {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = v.Name
	}
	if head := of + strings.Join(names, "\n"); head != r.head {
		r.head, r.widths = head, nil
		text := fmt.Sprintf("%-44s", of)
		for _, v := range values {
			width := max(utf8.RuneCountInString(v.Name), 9)
			if v.Target != "" {
				width = max(width, 22)
			}
			r.widths = append(r.widths, width)
			text += fmt.Sprintf("  %*s", width, v.Name)
		}
		fmt.Fprintln(r.to, text)
	}
	text, lines := fmt.Sprintf("%-44s", row), json.NewEncoder(r.results)
	lines.SetEscapeHTML(false)
	for i, v := range values {
		if math.IsNaN(v.Amount) || math.IsInf(v.Amount, 0) {
			return fmt.Errorf("%s: %s is %g: a measurement is missing", row, v.Name, v.Amount)
		}
		text += fmt.Sprintf("  %*s", r.widths[i], digits(v.Amount)+r.judge(v))
		if err := lines.Encode(line{of, row, v}); err != nil {
			return err
		}
	}
	fmt.Fprintln(r.to, strings.TrimRight(text+"  "+remark, " "))
	return nil
}

// judge counts the target of a value, if it has one, and returns its text.
func (r *report) judge(v value) string {
	switch {
	case v.Target == "":
		return ""
	case v.Met:
		r.judged++
		return fmt.Sprintf(" (%s met)", v.Target)
	}
	r.judged, r.missed = r.judged+1, r.missed+1
	return fmt.Sprintf(" (%s MISSED)", v.Target)
}

// digits formats a number with the digits that are worth reading.
func digits(x float64) string {
	switch size := math.Abs(x); {
	case x == math.Trunc(x) || size >= 1000:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case size >= 10:
		return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
	case size >= 1:
		return strconv.FormatFloat(x, 'f', 2, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}
