// Package tracerflags has the command-line flags that configure the tracer, for the commands that
// write its configuration: cairn run on one machine, and the probe in a pod. Package
// tracer/settings defines the flags; this package registers, parses and checks them.
package tracerflags

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/cairn-mpi/cairn/tracer/recorder/online"
	"github.com/cairn-mpi/cairn/tracer/settings"
)

// Flags are the tracer's flags of a command.
type Flags []*option

// option has the values of the flags of one option.
type option struct {
	*settings.Option
	first  string
	list   []string
	on     bool
	number int64
}

// Register adds the flags of a command.
func Register(flags *pflag.FlagSet, command settings.Command) Flags {
	var all Flags
	for i := range settings.Options {
		o := &option{Option: &settings.Options[i]}
		if len(o.Flags) == 0 || o.Flags[0].HelpOf(command) == "" {
			continue
		}
		o.register(flags, command)
		all = append(all, o)
	}
	return all
}

func (o *option) register(flags *pflag.FlagSet, command settings.Command) {
	for i := range o.Flags {
		f := &o.Flags[i]
		help := f.HelpOf(command)
		switch o.In(new(settings.Settings)).(type) {
		case *bool:
			flags.BoolVar(&o.on, f.Name, false, help)
		case *int64:
			initial, err := strconv.ParseInt(f.Default, 10, 64)
			if err != nil {
				panic(err) // a programming error: the table is constant
			}
			flags.Int64Var(&o.number, f.Name, initial, help)
		case *string:
			if f.List {
				flags.StringSliceVar(&o.list, f.Name, nil, help)
			} else {
				flags.StringVar(&o.first, f.Name, f.Default, help)
			}
		}
	}
}

// Settings returns the values of the flags, unchecked.
func (all Flags) Settings() settings.Settings {
	var s settings.Settings
	for _, o := range all {
		switch value := o.In(&s).(type) {
		case *bool:
			*value = o.on
		case *int64:
			*value = o.number
		case *string:
			*value = o.Text(o.first, o.list)
		}
	}
	return s
}

// Check returns an error for invalid values, and converts timing and mode to the form that the
// tracer reads.
func Check(s *settings.Settings) error {
	if err := checkValues(s); err != nil {
		return err
	}
	if err := CheckGroups(s); err != nil {
		return err
	}
	if err := CheckTiming(s); err != nil {
		return err
	}
	return CheckMode(s)
}

// checkValues returns an error for words that are not values of their option.
func checkValues(s *settings.Settings) error {
	for i := range settings.Options {
		o := &settings.Options[i]
		text, isText := o.In(s).(*string)
		if !isText || len(o.Flags) != 1 || o.Flags[0].List || o.Flags[0].Values == nil {
			continue
		}
		if f := &o.Flags[0]; !slices.Contains(f.Values, *text) {
			return fmt.Errorf("--%s is %s, not %q", f.Name, strings.Join(f.Values, ", "), *text)
		}
	}
	return nil
}

// CheckGroups returns an error for names that are not groups of functions.
func CheckGroups(s *settings.Settings) error {
	if s.Include != "" && s.Exclude != "" {
		return errors.New("--include and --exclude do not go together")
	}
	for _, list := range []string{s.Include, s.Exclude} {
		if list == "" {
			continue
		}
		if _, err := mpi.ParseGroups(strings.Split(list, ",")); err != nil {
			return err
		}
	}
	return nil
}

// CheckTiming converts the timing to the form that the tracer reads. If it returns an error, timing
// is cleared: every time stamp is kept.
func CheckTiming(s *settings.Settings) error {
	parsed, err := timing.ParseSettings(s.Timing)
	s.Timing = ""
	if err == nil {
		s.Timing = parsed.Text()
	}
	return err
}

// CheckMode converts the mode to the form that the tracer reads. If it returns an error, mode is
// cleared: every rank is recorded by itself.
func CheckMode(s *settings.Settings) error {
	mode, err := online.ParseMode(s.Mode)
	s.Mode = ""
	if err == nil && mode.Clustered {
		s.Mode = mode.String()
	}
	return err
}
