package main

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
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
	rule     string // within 10%, within 5, equal, at most, at least
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
	switch s.rule {
	case "equal":
		return program == cairn, nil
	case "at most":
		return program <= cairn, nil
	case "at least":
		return program >= cairn, nil
	}
	bound, ok := strings.CutPrefix(s.rule, "within ")
	percent := strings.HasSuffix(bound, "%")
	limit, err := strconv.ParseFloat(strings.TrimSuffix(bound, "%"), 64)
	if !ok || err != nil {
		return false, fmt.Errorf("%q is no rule: equal, at most, at least, within N, within N%%", s.rule)
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
	Efficiency *struct {
		LoadBalance float64 `json:"load_balance"`
	} `json:"efficiency"`
	Ranks []struct {
		Computation float64 `json:"computation_seconds"`
		MPI         float64 `json:"mpi_seconds"`
	} `json:"ranks"`
	Profile *struct {
		Functions []struct {
			Name  string  `json:"name"`
			Calls float64 `json:"calls"`
			Bytes float64 `json:"bytes"`
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
//	seconds           of the run
//	MPI seconds       of a rank, on average
//	MPI percent       part of the time of all ranks in MPI
//	load balance      in percent
//	imbalance         by how many percent the longest computation is above the average
//	messages
//	calls FUNCTION    of all ranks
//	calls FUNCTION/N  divided by N
//	mean bytes FUNCTION
func (f *findings) quantity(name string) (float64, error) {
	var mpi, computation, longest float64
	for _, r := range f.Ranks {
		mpi += r.MPI
		computation += r.Computation
		longest = max(longest, r.Computation)
	}
	n := float64(len(f.Ranks))
	kind, of, _ := strings.Cut(name, " MPI_")
	switch {
	case name == "seconds":
		return f.Seconds, nil
	case name == "MPI seconds" && n > 0:
		return mpi / n, nil
	case name == "MPI percent" && n > 0:
		return 100 * mpi / (mpi + computation), nil
	case name == "imbalance" && n > 0:
		return 100 * (longest*n/computation - 1), nil
	case name == "load balance" && f.Efficiency != nil:
		return 100 * f.Efficiency.LoadBalance, nil
	case name == "messages" && f.Placement != nil:
		return f.Placement.Messages, nil
	case kind == "calls" || kind == "mean bytes":
		return f.ofFunction(kind, "MPI_"+of)
	}
	return 0, fmt.Errorf("the report has no %s", name)
}

func (f *findings) ofFunction(kind, function string) (float64, error) {
	function, by, divided := strings.Cut(function, "/")
	divisor := 1.0
	if divided {
		var err error
		if divisor, err = strconv.ParseFloat(by, 64); err != nil {
			return 0, err
		}
	}
	if f.Profile == nil {
		return 0, fmt.Errorf("the report has no profile")
	}
	for _, p := range f.Profile.Functions {
		if p.Name == function && kind == "calls" {
			return p.Calls / divisor, nil
		} else if p.Name == function {
			return p.Bytes / p.Calls / divisor, nil
		}
	}
	return 0, nil
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
