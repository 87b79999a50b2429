package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/spf13/pflag"
)

// A part of a run; the zero value is all of it.
type part struct{ from, to moment }

func (p *part) register(flags *pflag.FlagSet) {
	flags.Var(&p.from, "from", "look at the run from this second on (also as 250ms)")
	flags.Var(&p.to, "to", "and up to this one (0: to its end)")
}

func (p *part) given() bool { return *p != part{} }

// end is where it ends, in seconds.
func (p *part) end() float64 {
	if p.to == 0 {
		return math.MaxInt32
	}
	return float64(p.to)
}

func (p *part) check() error {
	if p.from < 0 || p.to < 0 || p.to > 0 && p.to <= p.from {
		return usageError(fmt.Errorf("--from %v --to %v: seconds count from the begin of the run, and --to comes after --from", &p.from, &p.to))
	}
	return nil
}

// nothing is what is said of a part of a trace that has no call.
func (p *part) nothing(path string) error {
	return usageError(fmt.Errorf("%s: the chosen ranks made no call in this part of the run; 'cairn info' says how long it took", path))
}

// A moment is a flag: seconds since the run began, as 10.5, or with a unit, as 250ms.
type moment float64

// Set implements pflag.Value.
func (m *moment) Set(text string) error {
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil {
		d, wrong := time.ParseDuration(text)
		if wrong != nil {
			return errors.New("neither seconds, as 10.5, nor a time with a unit, as 250ms")
		}
		seconds = d.Seconds()
	}
	if math.IsNaN(seconds) || math.Abs(seconds) > math.MaxInt32 {
		return errors.New("no run is that long")
	}
	*m = moment(seconds)
	return nil
}

// String implements pflag.Value.
func (m *moment) String() string { return strconv.FormatFloat(float64(*m), 'g', -1, 64) }

// Type implements pflag.Value.
func (*moment) Type() string { return "seconds" }

// duration is the same as a time.Duration.
func (m *moment) duration() time.Duration { return time.Duration(math.Round(float64(*m) * 1e9)) }
