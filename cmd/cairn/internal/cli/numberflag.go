package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/spf13/pflag"
)

// A number is the type of a numeric flag.
type number interface {
	int | int64 | float64 | time.Duration
}

// A numberFlag is a number with limits. A value beyond them is an error of the command line, as
// text that is not a number is.
type numberFlag[N number] struct {
	value   *N
	minimum N
	maximum N
	above   bool // minimum itself is not allowed
}

// AtLeast returns a flag with values >= minimum.
func AtLeast[N number](value *N, initial, minimum N) *numberFlag[N] {
	*value = initial
	f := &numberFlag[N]{value: value, minimum: minimum}
	switch maximum := any(&f.maximum).(type) {
	case *int:
		*maximum = math.MaxInt
	case *int64:
		*maximum = math.MaxInt64
	case *float64:
		*maximum = math.MaxFloat64
	case *time.Duration:
		*maximum = math.MaxInt64
	}
	return f
}

// MoreThan returns a flag with values > limit and <= maximum.
func MoreThan[N number](value *N, initial, limit, maximum N) *numberFlag[N] {
	f := Within(value, initial, limit, maximum)
	f.above = true
	return f
}

// Within returns a flag with values >= minimum and <= maximum.
func Within[N number](value *N, initial, minimum, maximum N) *numberFlag[N] {
	f := AtLeast(value, initial, minimum)
	f.maximum = maximum
	return f
}

var _ pflag.Value = (*numberFlag[int])(nil)

// Set implements pflag.Value.
func (f *numberFlag[N]) Set(text string) error {
	n, err := parseNumber[N](text)
	switch {
	case err != nil:
		return err
	case f.above && !(n > f.minimum):
		return fmt.Errorf("it must be more than %v", f.minimum)
	case !(n >= f.minimum): // written this way so that NaN is refused, too
		return fmt.Errorf("it must be %v or more", f.minimum)
	case !(n <= f.maximum):
		return fmt.Errorf("it must be %v or less", f.maximum)
	}
	*f.value = n
	return nil
}

func parseNumber[N number](text string) (n N, err error) {
	switch to := any(&n).(type) {
	case *int:
		var v int64
		v, err = strconv.ParseInt(text, 0, strconv.IntSize)
		*to = int(v)
	case *int64:
		*to, err = strconv.ParseInt(text, 0, 64)
	case *float64:
		*to, err = strconv.ParseFloat(text, 64)
	case *time.Duration:
		if *to, err = time.ParseDuration(text); err != nil {
			return n, errors.New("a time needs a unit, such as 250ms or 2us")
		}
	}
	if err != nil {
		return n, fmt.Errorf("it is not a number: %w", errors.Unwrap(err))
	}
	return n, nil
}

// String implements pflag.Value.
func (f *numberFlag[N]) String() string {
	if f.value == nil { // pflag calls String on the zero value
		return ""
	}
	return fmt.Sprint(*f.value)
}

// Type implements pflag.Value. The help shows it.
func (f *numberFlag[N]) Type() string {
	var n N
	switch any(n).(type) {
	case float64:
		return "float"
	case time.Duration:
		return "duration"
	}
	return "int"
}
