package section

// A Table is the first rows of a long table; report.json has all of them.
type Table[T any] struct {
	Rows []T
	More int // number of rows that are not shown
}

// maxRows is the maximum number of rows of the page's tables of call sites.
const maxRows = 60

// Bounded returns a table with as many rows as a page shows.
func Bounded[T any](all []T) Table[T] {
	return Table[T]{Rows: First(all, maxRows), More: max(0, len(all)-maxRows)}
}

// First returns the first n elements of a list, or all.
func First[T any](list []T, n int) []T { return list[:min(n, len(list))] }

// Present turns an absent part of the findings into an absent view.
func Present[T any](part *T) any {
	if part == nil {
		return nil
	}
	return part
}

// Some turns an empty list into an absent view.
func Some[T any](list []T) any {
	if len(list) == 0 {
		return nil
	}
	return list
}

// OrZero returns a time that may be unknown.
func OrZero(seconds *float64) float64 {
	if seconds == nil {
		return 0
	}
	return *seconds
}
