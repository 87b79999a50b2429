package main

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A claim is a number that a program prints about its own run, the number of Cairn's report that
// it belongs to, and how they must relate.
type claim struct {
	name     string
	sum      bool // of all matches; otherwise the last match counts
	number   *regexp.Regexp
	quantity string
	rule     string // within 10%, within 5, equal
}

// parseClaim reads "NAME | [sum] REGULAR EXPRESSION | QUANTITY | RULE". The first group of the
// expression is the number.
func parseClaim(text string) (*claim, error) {
	fields := strings.Split(text, " | ")
	if len(fields) != 4 {
		return nil, fmt.Errorf("says NAME | EXPRESSION | QUANTITY | RULE, not %q", text)
	}
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	pattern, sum := strings.CutPrefix(fields[1], "sum ")
	number, err := regexp.Compile("(?m)" + pattern)
	if err != nil {
		return nil, err
	}
	if number.NumSubexp() < 1 {
		return nil, fmt.Errorf("%q has no group for the number", pattern)
	}
	s := &claim{name: fields[0], sum: sum, number: number, quantity: fields[2], rule: fields[3]}
	_, err = s.agrees(1, 1)
	return s, err
}

// check is the name of the check that the numbers relate.
func (s *claim) check() string { return "says-" + strings.ReplaceAll(s.name, " ", "-") }

// find returns the program's number.
func (s *claim) find(output string) (float64, error) {
	var total, last float64
	all := s.number.FindAllStringSubmatch(output, -1)
	if len(all) == 0 {
		return 0, fmt.Errorf("the output has no %s", s.name)
	}
	for _, match := range all {
		n, err := strconv.ParseFloat(match[1], 64)
		if err != nil {
			return 0, err
		}
		total, last = total+n, n
	}
	if s.sum {
		return total, nil
	}
	return last, nil
}

// agrees reports whether the numbers of the program and of Cairn relate by the rule.
func (s *claim) agrees(program, cairn float64) (bool, error) {
	if s.rule == "equal" {
		return program == cairn, nil
	}
	bound, ok := strings.CutPrefix(s.rule, "within ")
	percent := strings.HasSuffix(bound, "%")
	limit, err := strconv.ParseFloat(strings.TrimSuffix(bound, "%"), 64)
	if !ok || err != nil {
		return false, fmt.Errorf("%q is no rule: equal, within N, within N%%", s.rule)
	}
	if percent {
		limit *= cairn / 100
	}
	return math.Abs(program-cairn) <= limit, nil
}

// findings are the parts of report.json that claims are about.
type findings struct {
	Seconds float64 `json:"run_seconds"`
	Verdict struct {
		Text string `json:"text"`
	} `json:"verdict"`
	Ranks []struct {
		Computation    float64 `json:"computation_seconds"`
		MPI            float64 `json:"mpi_seconds"`
		Initialization float64 `json:"initialization_seconds"`
		Finalization   float64 `json:"finalization_seconds"`
	} `json:"ranks"`
	Profile *struct {
		Functions []struct {
			Name  string  `json:"name"`
			Calls float64 `json:"calls"`
		} `json:"functions"`
	} `json:"profile"`
	Placement *struct {
		Messages float64 `json:"messages"`
	} `json:"placement"`
}

func parseFindings(report []byte) (*findings, error) {
	f := &findings{}
	return f, json.Unmarshal(report, f)
}

// quantity returns a number of the report:
//
//	initialized seconds    of the run, without the longest start and end of MPI
//	MPI percent            part of the time of all ranks in MPI
//	messages
//	calls FUNCTION         of all ranks; FUNCTION+FUNCTION: of both
//	calls FUNCTION/N       divided by N
func (f *findings) quantity(name string) (float64, error) {
	functions, isCalls := strings.CutPrefix(name, "calls ")
	switch {
	case name == "initialized seconds" && len(f.Ranks) > 0:
		var start, end float64
		for _, r := range f.Ranks {
			start, end = max(start, r.Initialization), max(end, r.Finalization)
		}
		return f.Seconds - start - end, nil
	case name == "MPI percent" && len(f.Ranks) > 0:
		var mpi, computation float64
		for _, r := range f.Ranks {
			mpi += r.MPI
			computation += r.Computation
		}
		return 100 * mpi / (mpi + computation), nil
	case name == "messages" && f.Placement != nil:
		return f.Placement.Messages, nil
	case isCalls && f.Profile != nil:
		return f.calls(functions)
	}
	return 0, fmt.Errorf("the report has no %s", name)
}

func (f *findings) calls(functions string) (n float64, err error) {
	functions, by, divided := strings.Cut(functions, "/")
	divisor := 1.0
	if divided {
		if divisor, err = strconv.ParseFloat(by, 64); err != nil {
			return 0, err
		}
	}
	names := strings.Split(functions, "+")
	for _, p := range f.Profile.Functions {
		if slices.Contains(names, p.Name) {
			n += p.Calls / divisor
		}
	}
	return n, nil
}

// A sentenceRule is what the verdict of a run must be, or must not be, as its author knows better.
type sentenceRule struct {
	not     bool
	pattern *regexp.Regexp
}

// parseSentenceRule reads "[not] REGULAR EXPRESSION".
func parseSentenceRule(text string) (*sentenceRule, error) {
	pattern, not := strings.CutPrefix(text, "not ")
	r, err := regexp.Compile(pattern)
	return &sentenceRule{not, r}, err
}

func (s *sentenceRule) holds(text string) bool { return s.pattern.MatchString(text) != s.not }

func (s *sentenceRule) String() string {
	if s.not {
		return "not " + s.pattern.String()
	}
	return s.pattern.String()
}
