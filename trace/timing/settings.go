package timing

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Mode is the precision of the times of calls.
type Mode string

const (
	// Lossless keeps every time stamp, in ticks.
	Lossless Mode = "lossless"
	// Lossy keeps every gap and duration within a relative error, and every moment within
	// MomentTicks.
	Lossy Mode = "lossy"
	// Aggregated keeps statistics per signature.
	Aggregated Mode = "aggregated"
)

// DefaultError is the default error of lossy timing, in per cent.
const DefaultError = 5

// Settings are the mode and, for lossy timing, its errors.
type Settings struct {
	Mode         Mode            // "": the trace has no timing
	ErrorPercent int             // lossy: 1 to MaxError
	Functions    []FunctionError // lossy: functions with another error, sorted by name
}

// A FunctionError is the error of one function's intervals: its durations and the gaps before it.
type FunctionError struct {
	Function     string
	ErrorPercent int
}

// String describes the settings to people: "lossy, within 5% (MPI_Barrier 1%)".
func (t *Settings) String() string {
	if t.Mode != Lossy {
		return string(t.Mode)
	}
	text := fmt.Sprintf("%s, within %d%%", t.Mode, t.ErrorPercent)
	for i, f := range t.Functions {
		text += fmt.Sprintf("%s%s %d%%", []string{" (", ", "}[min(i, 1)], f.Function, f.ErrorPercent)
	}
	if len(t.Functions) > 0 {
		text += ")"
	}
	return text
}

// Equal reports whether both round in the same way, so that blocks of timing of both have the same
// meaning.
func (t *Settings) Equal(o *Settings) bool {
	return t.Mode == o.Mode && t.ErrorPercent == o.ErrorPercent && slices.Equal(t.Functions, o.Functions)
}

// ErrorOf returns the error of the intervals of a function, in per cent; 0 unless timing is lossy.
func (t *Settings) ErrorOf(function string) int {
	for _, f := range t.Functions {
		if f.Function == function {
			return f.ErrorPercent
		}
	}
	return t.ErrorPercent
}

// WorstError returns the largest error of any function, in per cent.
func (t *Settings) WorstError() int {
	worst := t.ErrorPercent
	for _, f := range t.Functions {
		worst = max(worst, f.ErrorPercent)
	}
	return worst
}

// Text returns the settings in the form of the tracer's configuration: "lossy 5 MPI_Barrier=1".
func (t *Settings) Text() string {
	if t.Mode != Lossy {
		return string(t.Mode)
	}
	text := fmt.Sprintf("%s %d", t.Mode, t.ErrorPercent)
	for _, f := range t.Functions {
		text += fmt.Sprintf(" %s=%d", f.Function, f.ErrorPercent)
	}
	return text
}

// ParseSettings parses the result of Text. An empty text is lossless, and a missing error is
// DefaultError.
func ParseSettings(text string) (Settings, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return Settings{Mode: Lossless}, nil
	}
	t := Settings{Mode: Mode(words[0])}
	switch t.Mode {
	case Lossless, Aggregated:
		if len(words) > 1 {
			return t, fmt.Errorf("%s timing has no error to set (%s)", t.Mode, strings.Join(words[1:], " "))
		}
		return t, nil
	case Lossy:
	default:
		return t, fmt.Errorf("timing is lossy, lossless or aggregated, not %q", words[0])
	}
	t.ErrorPercent = DefaultError
	for _, word := range words[1:] {
		function, number, of := strings.Cut(word, "=")
		if !of {
			number = word
		}
		percent, err := strconv.Atoi(number)
		if err != nil || percent < 1 || percent > MaxError {
			return t, fmt.Errorf("a timing error is 1 to %d percent, or FUNCTION= and that, not %q", MaxError, word)
		}
		if !of {
			t.ErrorPercent = percent
			continue
		}
		i, found := slices.BinarySearchFunc(t.Functions, function, func(f FunctionError, name string) int {
			return strings.Compare(f.Function, name)
		})
		if !found {
			t.Functions = slices.Insert(t.Functions, i, FunctionError{Function: function})
		}
		t.Functions[i].ErrorPercent = percent
	}
	return t, nil
}
