package parquet

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// rowGroup is the maximum number of rows in a row group: readers and writers have one at a time in
// memory.
const rowGroup = 1 << 18

// batch is the number of rows that are passed to the library at once.
const batch = 1 << 12

// maxDictionary bounds the dictionary of a column in a row group, in bytes; a column with more is
// written without one.
const maxDictionary = 4 << 20

// A directory has the tables that are being written. Their names are NAME.parquet.partial until all
// are complete.
type directory struct {
	path   string
	tables []partial
}

// A partial is an incomplete table.
type partial interface {
	close(metadata [][2]string) (bytes int64, err error)
	discard()
	rename() error
}

// A table is a file of rows.
type table[T any] struct {
	path     string
	name     string
	file     *os.File
	out      *bufio.Writer
	to       *pq.GenericWriter[T]
	rows     []T
	nullable nullables // values that the rows point to
	n        int64
	err      error
}

// newTable creates a table in a directory.
func newTable[T any](d *directory, name string) (*table[T], error) {
	t := &table[T]{path: filepath.Join(d.path, name+".parquet"), name: name, rows: make([]T, 0, batch)}
	var err error
	if t.file, err = os.Create(t.path + ".partial"); err != nil {
		return nil, err
	}
	t.out = bufio.NewWriterSize(t.file, 1<<20)
	t.to = pq.NewGenericWriter[T](t.out, pq.Compression(&zstd.Codec{Level: zstd.SpeedFastest}), pq.MaxRowsPerRowGroup(rowGroup),
		pq.DictionaryMaxBytes(maxDictionary),
		pq.DefaultEncodingFor(pq.Int64, &pq.DeltaBinaryPacked), pq.CreatedBy("Cairn", "", ""),
		pq.DataPageVersion(1)) // version 2 does not compress the levels of null values: two thirds of the calls
	d.tables = append(d.tables, t)
	return t, nil
}

// add appends a row. close returns errors.
func (t *table[T]) add(row T) {
	if t.rows = append(t.rows, row); len(t.rows) == batch {
		t.flush()
	}
}

func (t *table[T]) flush() {
	t.write(t.rows)
	t.rows = t.rows[:0]
	t.nullable.reset()
}

// write appends rows that are stored elsewhere.
func (t *table[T]) write(rows []T) {
	if t.err == nil && len(rows) > 0 {
		_, t.err = t.to.Write(rows)
		t.n += int64(len(rows))
	}
}

func (t *table[T]) close(metadata [][2]string) (int64, error) {
	t.flush()
	for _, m := range metadata {
		t.to.SetKeyValueMetadata(m[0], m[1])
	}
	t.to.SetKeyValueMetadata("cairn.table", t.name)
	if t.err == nil {
		t.err = t.to.Close()
	}
	if t.err == nil {
		t.err = t.out.Flush()
	}
	size := int64(0)
	if about, err := t.file.Stat(); err == nil {
		size = about.Size()
	}
	if t.err = errors.Join(t.err, t.file.Close()); t.err != nil {
		return 0, fmt.Errorf("%s: %w", t.path, t.err)
	}
	return size, nil
}

func (t *table[T]) discard() {
	t.file.Close()
	os.Remove(t.path + ".partial")
}

func (t *table[T]) rename() error { return os.Rename(t.path+".partial", t.path) }

// A nullables stores the values of nullable fields until their rows are written.
type nullables struct {
	int64s []int64
	int32s []int32
}

func (n *nullables) int64(v int64) *int64 {
	if len(n.int64s) == cap(n.int64s) {
		n.int64s = make([]int64, 0, batch)
	}
	n.int64s = append(n.int64s, v)
	return &n.int64s[len(n.int64s)-1]
}

func (n *nullables) int32(v int32) *int32 {
	if len(n.int32s) == cap(n.int32s) {
		n.int32s = make([]int32, 0, batch)
	}
	n.int32s = append(n.int32s, v)
	return &n.int32s[len(n.int32s)-1]
}

// reset reuses the memory: the rows have been written.
func (n *nullables) reset() { n.int64s, n.int32s = n.int64s[:0], n.int32s[:0] }
