package settings

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// A Command is a command that writes config.json.
type Command int

// The commands.
const (
	Run   Command = iota // cairn run
	Probe                // cairn probe
)

// HelpOf returns a command's help text for the flag; "" if the command does not have the flag.
func (f *Flag) HelpOf(c Command) string {
	switch {
	case f.Help != "":
		return f.Help
	case c == Run:
		return f.Run
	default:
		return f.Probe
	}
}

// Named returns the option with a key; nil if there is none.
func Named(key string) *Option {
	i := slices.IndexFunc(Options, func(o Option) bool { return o.Key == key })
	if i < 0 {
		return nil
	}
	return &Options[i]
}

// In returns a pointer to the option's field of s: a *string, *bool or *int64.
func (o *Option) In(s *Settings) any {
	fields := reflect.ValueOf(s).Elem()
	for i := range fields.NumField() {
		name, _, _ := strings.Cut(fields.Type().Field(i).Tag.Get("json"), ",")
		if name == o.Key {
			return fields.Field(i).Addr().Interface()
		}
	}
	panic(fmt.Sprintf("Settings has no field %q", o.Key)) // a programming error, which a test finds
}

// separator returns what separates the values of a list in the option's text.
func (o *Option) separator() string {
	if len(o.Flags) > 1 {
		return " "
	}
	return ","
}

// Text returns the option's text, given the values of its first flag and of its list flag.
func (o *Option) Text(first string, list []string) string {
	text := strings.Join(list, o.separator())
	switch {
	case len(o.Flags) > 1:
		return strings.TrimSpace(first + " " + text)
	case !o.Flags[0].List:
		return first
	}
	return text
}

// Arguments returns the arguments with which the probe writes s. It omits defaults.
func Arguments(s Settings) []string {
	var arguments []string
	for i := range Options {
		o := &Options[i]
		if len(o.Flags) == 0 || o.Flags[0].HelpOf(Probe) == "" {
			continue
		}
		arguments = append(arguments, o.arguments(&s)...)
	}
	return arguments
}

func (o *Option) arguments(s *Settings) []string {
	first := &o.Flags[0]
	switch value := o.In(s).(type) {
	case *bool:
		if *value {
			return []string{"--" + first.Name}
		}
	case *int64:
		if *value != 0 {
			return []string{"--" + first.Name, strconv.FormatInt(*value, 10)}
		}
	case *string:
		return o.textArguments(*value)
	}
	return nil
}

func (o *Option) textArguments(text string) []string {
	if text == "" || len(o.Flags) == 1 && text == o.Flags[0].Default {
		return nil
	}
	var arguments []string
	first, list := o.Flags[0], []string{}
	if first.List || len(o.Flags) > 1 {
		list = strings.Split(text, o.separator())
	}
	switch {
	case len(o.Flags) > 1:
		arguments, list = append(arguments, "--"+first.Name, list[0]), list[1:]
	case !first.List:
		arguments = append(arguments, "--"+first.Name, text)
	}
	for _, value := range list {
		arguments = append(arguments, "--"+o.Flags[len(o.Flags)-1].Name, value)
	}
	return arguments
}
