package section

// A Table is the first rows of a long one; report.json has all.
type Table[T any] struct {
	Rows []T
	More int // how many are not shown
}

// maxRows bounds the page's tables of call sites.
const maxRows = 60

// Bounded is a table of as many rows as a page shows.
func Bounded[T any](all []T) Table[T] {
	return Table[T]{Rows: First(all, maxRows), More: max(0, len(all)-maxRows)}
}

// First are the first n of a list, or all.
func First[T any](list []T, n int) []T { return list[:min(n, len(list))] }

// Present makes an absent part of the findings an absent view.
func Present[T any](part *T) any {
	if part == nil {
		return nil
	}
	return part
}

// Some makes an empty list an absent view.
func Some[T any](list []T) any {
	if len(list) == 0 {
		return nil
	}
	return list
}

// OrZero is a time that may not be known.
func OrZero(seconds *float64) float64 {
	if seconds == nil {
		return 0
	}
	return *seconds
}
