package codec

import (
	"errors"
	"sync/atomic"
)

// ErrMemory is returned where a reader would need more memory than its limit allows.
var ErrMemory = errors.New("trace: needs more memory than the limit allows (see WithMemoryLimit)")

// A Budget is the number of bytes of memory that a reader may still use. A nil Budget is unlimited.
// It is safe for concurrent use.
type Budget struct {
	left atomic.Int64
}

// NewBudget returns a budget of the given number of bytes.
func NewBudget(bytes int64) *Budget {
	m := &Budget{}
	m.left.Store(bytes)
	return m
}

// Take takes bytes from the budget. It reports false, and takes nothing, if that many are not left.
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
