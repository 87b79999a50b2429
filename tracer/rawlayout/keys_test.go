package rawlayout_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/rawlayout"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// keysOf adds the JSON keys of a structure and of nested ones.
func keysOf(t reflect.Type, keys map[string]bool) {
	switch t.Kind() {
	case reflect.Slice:
		keysOf(t.Elem(), keys)
	case reflect.Struct:
		for f := range t.NumField() {
			if key, _, _ := strings.Cut(t.Field(f).Tag.Get("json"), ","); key != "" {
				keys[key] = true
				keysOf(t.Field(f).Type, keys)
			}
		}
	}
}

// The recorder reads exactly the keys that the shim writes: those of the table.
func TestKeysOfProcessJSON(t *testing.T) {
	keys := map[string]bool{}
	keysOf(reflect.TypeFor[record.Process](), keys)
	table := slices.Sorted(slices.Values(rawlayout.ProcessKeys[:]))
	got := make([]string, 0, len(keys))
	for key := range keys {
		got = append(got, key)
	}
	slices.Sort(got)
	require.Equal(t, table, got)
}
