package codec

import (
	"errors"
	"sync/atomic"
)

// ErrMemory is the error where a reader would need more memory than it may take.
var ErrMemory = errors.New("trace: needs more memory than the limit allows (see WithMemoryLimit)")

// A Budget is the memory that a reader may still use. nil has no end. It may be shared by goroutines.
type Budget struct {
	left atomic.Int64
}

// NewBudget makes a budget of so many bytes.
func NewBudget(bytes int64) *Budget {
	m := &Budget{}
	m.left.Store(bytes)
	return m
}

// Take books bytes and reports whether they were still there.
func (m *Budget) Take(bytes int64) bool {
	if m == nil {
		return true
	}
	if bytes < 0 || m.left.Add(-bytes) < 0 {
		m.left.Add(max(bytes, 0))
		return false
	}
	return true
}

// Give returns bytes that are no longer used.
func (m *Budget) Give(bytes int64) {
	if m != nil {
		m.left.Add(bytes)
	}
}

// Left is how many bytes are left.
func (m *Budget) Left() int64 { return m.left.Load() }
