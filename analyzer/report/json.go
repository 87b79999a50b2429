package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/report/section"
)

// JSON returns report.json.
func (r *Report) JSON() ([]byte, error) {
	var parts []any
	for _, findings := range r.Findings() {
		parts = append(parts, withoutNotes(findings))
	}
	parts = append(parts, Frame{SchemaVersion, r.Missing, r.Provenance, r.Notes})
	var all bytes.Buffer
	for _, part := range parts {
		body, err := json.Marshal(part)
		if err != nil {
			return nil, err
		}
		if body = bytes.TrimSuffix(bytes.TrimPrefix(body, []byte("{")), []byte("}")); len(body) == 0 {
			continue
		}
		if all.Len() > 0 {
			all.WriteByte(',')
		}
		all.Write(body)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, []byte("{"+all.String()+"}"), "", " "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// Read reads a report.json. It ignores findings of analyses that are not in list.
func Read(list []analysis.Any, raw []byte) (*Report, error) {
	var head analysis.Head
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	if head.SchemaVersion != SchemaVersion {
		return nil, fmt.Errorf("report has version %d, this cairn reads %d", head.SchemaVersion, SchemaVersion)
	}
	var f Frame
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	keys := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &keys); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	r := &Report{list: list, Run: section.Run{Provenance: f.Provenance}, Missing: f.Missing, Notes: f.Notes}
	for _, a := range list {
		findings := a.New()
		if _, there := keys[firstKey(findings)]; !there {
			continue
		}
		if err := json.Unmarshal(raw, findings); err != nil {
			return nil, fmt.Errorf("report: findings of %s: %w", a.Name(), err)
		}
		setNotes(findings, nil)
		r.Put(findings)
	}
	r.Named = named(r)
	return r, nil
}

// firstKey returns the first key of findings in report.json.
func firstKey(findings any) string {
	key, _, _ := strings.Cut(reflect.TypeOf(findings).Elem().Field(0).Tag.Get("json"), ",")
	return key
}

// notes returns the field of findings for sentences that the report shows as warnings; it is not
// valid if there is none.
func notes(findings any) reflect.Value { return reflect.ValueOf(findings).Elem().FieldByName("Notes") }

// notesOf returns the notes of findings.
func notesOf(findings any) []string {
	if v := notes(findings); v.IsValid() {
		return v.Interface().([]string)
	}
	return nil
}

func setNotes(findings any, list []string) {
	if v := notes(findings); v.IsValid() {
		v.Set(reflect.ValueOf(list))
	}
}

// withoutNotes returns a copy of findings without notes: report.json has those of all analyses
// together.
func withoutNotes(findings any) any {
	copied := reflect.New(reflect.TypeOf(findings).Elem())
	copied.Elem().Set(reflect.ValueOf(findings).Elem())
	setNotes(copied.Interface(), nil)
	return copied.Interface()
}
