package tracefile

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
)

// A Part is a range of time of a run. The zero value is the whole run.
type Part struct{ From, To Instant }

// Register adds the flags --from and --to.
func (p *Part) Register(flags *pflag.FlagSet) {
	flags.Var(&p.From, "from", "start of the part of the run to read, in seconds or with a unit (250ms)")
	flags.Var(&p.To, "to", "end of the part (0: end of the run)")
}

// Given reports whether a part was requested.
func (p *Part) Given() bool { return *p != Part{} }

// End returns the end of the part in seconds.
func (p *Part) End() float64 {
	if p.To == 0 {
		return math.MaxInt32
	}
	return float64(p.To)
}

// Check returns an error of the command line for a part that no run can have.
func (p *Part) Check() error {
	if p.From < 0 || p.To < 0 || p.To > 0 && p.To <= p.From {
		return cli.UsageError(fmt.Errorf("--from %v --to %v: seconds count from the start of the run, and --to must be after --from", &p.From, &p.To))
	}
	return nil
}

// Nothing returns the error for a part of a trace without calls.
func (p *Part) Nothing(path string) error {
	return cli.UsageError(fmt.Errorf("%s: the chosen ranks made no call in this part of the run; 'cairn info' prints how long it took", path))
}

// An Instant is a flag: seconds since the run began, such as 10.5, or with a unit, such as 250ms.
type Instant float64

// Set implements pflag.Value.
func (m *Instant) Set(text string) error {
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil {
		d, wrong := time.ParseDuration(text)
		if wrong != nil {
			return errors.New("neither seconds, such as 10.5, nor a time with a unit, such as 250ms")
		}
		seconds = d.Seconds()
	}
	if math.IsNaN(seconds) || math.Abs(seconds) > math.MaxInt32 {
		return errors.New("no run is that long")
	}
	*m = Instant(seconds)
	return nil
}

// String implements pflag.Value.
func (m *Instant) String() string { return strconv.FormatFloat(float64(*m), 'g', -1, 64) }

// Type implements pflag.Value.
func (*Instant) Type() string { return "seconds" }

// Duration converts to a time.Duration.
func (m *Instant) Duration() time.Duration { return time.Duration(math.Round(float64(*m) * 1e9)) }
