package recorder

import "sync/atomic"

// loadAcquire reads a word that another thread of C code may have stored with release order.
func loadAcquire(p *uint64, live bool) uint64 {
	if live {
		return atomic.LoadUint64(p)
	}
	return *p
}
