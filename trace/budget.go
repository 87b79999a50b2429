package trace

import (
	"errors"
	"sync/atomic"
)

var errMemory = errors.New("trace: needs more memory than the limit allows (see WithMemoryLimit)")

// A budget is the memory that a reader may still use. nil has no end. It may be shared by goroutines.
type budget struct {
	left atomic.Int64
}

func newBudget(bytes int64) *budget {
	m := &budget{}
	m.left.Store(bytes)
	return m
}

// take books bytes and tells whether they were still there.
func (m *budget) take(bytes int64) bool {
	if m == nil {
		return true
	}
	if bytes < 0 || m.left.Add(-bytes) < 0 {
		m.left.Add(max(bytes, 0))
		return false
	}
	return true
}

// give returns bytes that are no longer used.
func (m *budget) give(bytes int64) {
	if m != nil {
		m.left.Add(bytes)
	}
}
