package report

import (
	"encoding/json"
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
