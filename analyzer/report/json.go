package report

import (
	"encoding/json"
	"fmt"
)

// JSON is report.json.
func (r *Report) JSON() ([]byte, error) {
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return nil, err
	}
	return append(b, '\n'), nil
}

// Read reads a report.json.
func Read(b []byte) (*Report, error) {
	var r Report
	if err := read("report", b, &r, SchemaVersion); err != nil {
		return nil, err
	}
	return &r, nil
}

// Summary is what a terminal shows of a report: the verdict and the numbers behind it.
func (r *Report) Summary() string {
	e := r.Efficiency
	return fmt.Sprintf("%s\nParallel efficiency %.0f%% = load balance %.0f%% × communication efficiency %.0f%%.\n",
		r.Verdict.Text, 100*e.Parallel, 100*e.LoadBalance, 100*e.Communication)
}
