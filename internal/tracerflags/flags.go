// Package tracerflags has the flags that say how the tracer records, for the commands that write its configuration:
// cairn run on one machine, the probe in a pod. Which there are is in tracer/settings; here they are registered and read,
// and what they say is checked.
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

// Flags are those of a command.
type Flags []*option

// option is what the flags of one option were given.
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

// Settings are what the flags say, unchecked.
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

// Check refuses values that no option has, and writes timing and mode as the tracer reads them.
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

// checkValues refuses texts of one word that are none of their option's.
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

// CheckGroups refuses names that no group of functions has.
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

// CheckTiming writes the timing as the tracer reads it. Where it cannot be understood there is none: every time stamp is
// kept.
func CheckTiming(s *settings.Settings) error {
	parsed, err := timing.ParseSettings(s.Timing)
	s.Timing = ""
	if err == nil {
		s.Timing = parsed.Text()
	}
	return err
}

// CheckMode writes the mode as the tracer reads it. Where it cannot be understood there is none: every rank is recorded by
// itself.
func CheckMode(s *settings.Settings) error {
	mode, err := online.ParseMode(s.Mode)
	s.Mode = ""
	if err == nil && mode.Clustered {
		s.Mode = mode.String()
	}
	return err
}
