package strangers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// A Turn is the place of a run in its case: every second one is with the fault. The first and the
// last one are controls.
type Turn int

// IsControl reports whether the run is without the fault.
func (t Turn) IsControl() bool { return t%2 == 0 }

func (t Turn) String() string {
	if t.IsControl() {
		return fmt.Sprintf("control %d", t/2+1)
	}
	return fmt.Sprintf("fault %d", t/2+1)
}

// TurnsOf returns the number of turns of a case with so many runs with the fault.
func TurnsOf(faults int) Turn { return Turn(2*faults + 1) }

// A Record is a run and what its report says.
type Record struct {
	Case
	Seed     uint64  `json:"seed"`
	Turn     Turn    `json:"turn"`
	HeldOut  bool    `json:"held_out"`
	Seconds  float64 `json:"seconds"`  // from MPI_Init to MPI_Finalize
	Lifetime float64 `json:"lifetime"` // of the ranks, from when they were found
	Exit     int     `json:"exit"`
	// Delayed is the part of its time that each rank waited for a CPU.
	Delayed []float64 `json:"delayed"`
	// Effect is what the injector measured of the fault (Fault.Effect). Region is the MPI function
	// before which a rank was stretched, "" if it was not in one region.
	Effect float64         `json:"effect"`
	Region string          `json:"region,omitempty"`
	Text   string          `json:"text"`
	Causes []verdict.Cause `json:"causes"`
	// Impossible says why this machine cannot make the run, Discarded why the run does not count,
	// Failed why it has no report. All are empty if it counts.
	Impossible string `json:"impossible,omitempty"`
	Discarded  string `json:"discarded,omitempty"`
	Failed     string `json:"failed,omitempty"`
}

// Counts reports whether there is something to judge.
func (r *Record) Counts() bool { return r.Impossible == "" && r.Discarded == "" && r.Failed == "" }

// Results are the runs so far. The file has a line for each.
type Results struct {
	Records []*Record
	file    *os.File
	known   map[key]*Record
}

type key struct {
	seed  uint64
	index int
	turn  Turn
}

// OpenResults reads the runs of a file, which is created if there is none. A last line that was not
// written to its end is removed: its run is repeated.
func OpenResults(path string) (*Results, error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	r := &Results{known: map[key]*Record{}}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	for n, line := range bytes.Split(bytes.TrimSpace(whole), []byte{'\n'}) {
		if len(line) == 0 {
			continue
		}
		record := &Record{}
		if err := json.Unmarshal(line, record); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n+1, err)
		}
		r.remember(record)
	}
	if r.file, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644); err != nil {
		return nil, err
	}
	return r, r.file.Truncate(int64(len(whole)))
}

func (r *Results) remember(record *Record) {
	r.Records = append(r.Records, record)
	r.known[key{record.Seed, record.Index, record.Turn}] = record
}

// Of returns the record of a run, or nil.
func (r *Results) Of(seed uint64, index int, turn Turn) *Record {
	return r.known[key{seed, index, turn}]
}

// TooShort reports whether a run has shown that the program of a case is too short for faults.
func (r *Results) TooShort(c *Case) bool {
	of := Record{Case: *c}
	return slices.ContainsFunc(r.Records, func(o *Record) bool {
		return o.subject() == of.subject() && o.Discarded == tooShort(c.Program)
	})
}

// Add appends a run to the file.
func (r *Results) Add(record *Record) error {
	line, err := json.Marshal(record)
	if err != nil {
		return err
	}
	if _, err := r.file.Write(append(line, '\n')); err != nil {
		return err
	}
	r.remember(record)
	return nil
}

// Close closes the file.
func (r *Results) Close() error { return r.file.Close() }
