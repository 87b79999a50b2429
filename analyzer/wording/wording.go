// Package wording formats numbers as text, consistently in the findings of all analyses.
package wording

import (
	"fmt"
	"math"
)

// Duration formats seconds with a readable precision.
func Duration(s float64) string {
	switch size := math.Abs(s); {
	case size < 1e-9: // below the resolution of clocks: the remainder of a difference of sums
		return "0 s"
	case size >= 100:
		return fmt.Sprintf("%.0f s", s)
	case size >= 0.9995: // so that the smaller unit is never rounded to 1e+03
		return fmt.Sprintf("%.1f s", s)
	case size >= 0.0009995:
		return fmt.Sprintf("%.3g ms", s*1e3)
	}
	return fmt.Sprintf("%.3g µs", s*1e6)
}

// Count formats a number of things: "1 call", "2 calls".
func Count[N int | uint64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Bytes returns an amount of memory, as in "2.0 GiB".
func Bytes(n int64) string {
	for _, unit := range []struct {
		name string
		bits int
	}{{"GiB", 30}, {"MiB", 20}, {"KiB", 10}} {
		if n >= 1<<unit.bits {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(int64(1)<<unit.bits), unit.name)
		}
	}
	return fmt.Sprintf("%d B", n)
}
