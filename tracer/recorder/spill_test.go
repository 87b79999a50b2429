package recorder

import (
	"slices"
	"testing"
)

// A growingFile is a file in memory.
type growingFile struct{ b []byte }

func (f *growingFile) WriteAt(b []byte, at int64) (int, error) {
	f.b = append(f.b[:at], b...)
	return len(b), nil
}

func (f *growingFile) ReadAt(b []byte, at int64) (int, error) { return copy(b, f.b[at:]), nil }

// What is written to the file of times makes room for what follows: a program that goes on for ever gives the garbage
// collector nothing to do, which would hold up the compressor, and in the end calls of the application.
func TestPiecesAreFilledAgain(t *testing.T) {
	var c column
	var want []int64
	file, at, next := &growingFile{b: make([]byte, 0, 64<<20)}, int64(0), int64(0)
	times := make([]int64, 2048)
	checkpoint := func(keep bool) {
		for range 100 {
			for i := range times {
				times[i] = next * 7919 % 20000
				next++
			}
			c.pushAlternate(times)
			for i := 0; keep && i < len(times); i += 2 {
				want = append(want, times[i])
			}
		}
		var err error
		if at, err = c.write(file, at); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		checkpoint(true)
	}
	got, err := c.values(file)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%d values of %d came back, or others: %v", len(got), len(want), err)
	}
	if n := testing.AllocsPerRun(20, func() { checkpoint(false) }); n > 0 {
		t.Errorf("%v allocations between two checkpoints", n)
	}
}
