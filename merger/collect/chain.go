package collect

import (
	"context"
	"io"
	"sort"
	"sync"

	"github.com/cairn-mpi/cairn/store"
)

// A chain is the concatenation of several objects, read as one.
type chain struct {
	objects []io.ReaderAt
	ends    []int64
}

func (c *chain) add(object io.ReaderAt, size int64) {
	c.objects = append(c.objects, object)
	c.ends = append(c.ends, c.size()+size)
}

func (c *chain) size() int64 {
	if len(c.ends) == 0 {
		return 0
	}
	return c.ends[len(c.ends)-1]
}

// ReadAt reads across the boundaries of objects.
func (c *chain) ReadAt(b []byte, at int64) (n int, err error) {
	i := sort.Search(len(c.ends), func(i int) bool { return c.ends[i] > at })
	for ; n < len(b) && i < len(c.ends); i++ {
		begin := int64(0)
		if i > 0 {
			begin = c.ends[i-1]
		}
		most := min(int64(len(b)-n), c.ends[i]-at)
		k, err := c.objects[i].ReadAt(b[n:n+int(most)], at-begin)
		n += k
		at += int64(k)
		if int64(k) < most {
			if err == nil || err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return n, err
		}
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// A partReader reads an object with parts. It accesses the store only when it is read.
type partReader struct {
	ctx   context.Context
	store store.Store
	key   string

	mu   sync.Mutex
	open store.Reader
}

func (p *partReader) ReadAt(b []byte, at int64) (int, error) {
	p.mu.Lock()
	if p.open == nil {
		open, err := p.store.ReaderAt(p.ctx, p.key)
		if err != nil {
			p.mu.Unlock()
			return 0, err
		}
		p.open = open
	}
	open := p.open
	p.mu.Unlock()
	return open.ReadAt(b, at)
}
