package settings_test

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/tracer/settings"
)

// The table has each field of the structure, once, and each flag once.
func TestTableHasAllFields(t *testing.T) {
	var fields, keys, flags []string
	of := reflect.TypeFor[settings.Settings]()
	for i := range of.NumField() {
		key, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		fields = append(fields, key)
	}
	for i := range settings.Options {
		o := &settings.Options[i]
		keys = append(keys, o.Key)
		require.NotNil(t, o.In(new(settings.Settings)))
		require.Same(t, o, settings.Named(o.Key))
		for _, f := range o.Flags {
			flags = append(flags, f.Name)
			if f.Values != nil && f.Default != "" {
				require.Contains(t, f.Values, f.Default, f.Name)
			}
		}
	}
	require.ElementsMatch(t, fields, keys)
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(flags))), len(flags))
	require.Nil(t, settings.Named("no such key"))
}

func TestGroupsAreThoseOfMPI(t *testing.T) {
	var names []string
	for _, g := range mpi.Groups {
		names = append(names, string(g))
	}
	require.Equal(t, names, settings.Named("include").Flags[0].Values, "change the enumeration of v1alpha1.FunctionGroup as well")
}

// The order of keys and which keys are omitted are part of the interface.
func TestConfigJSON(t *testing.T) {
	least, err := json.Marshal(settings.Settings{Spool: "/cairn/spool", CallSites: "caller"})
	require.NoError(t, err)
	require.Equal(t, `{"spool":"/cairn/spool","call_sites":"caller","verify":false,"enabled":false}`, string(least))
	all, err := json.Marshal(settings.Settings{
		Spool: "s", CallSites: "path", Pointers: true, Timing: "lossy 5", Mode: "clustered", Verify: true, SharedSpool: true,
		SpoolLimitBytes: 1, BufferBytes: 2, Include: "p2p", Exclude: "io", StartOff: true, Enabled: true, Reason: "r",
	})
	require.NoError(t, err)
	require.Equal(t, `{"spool":"s","call_sites":"path","pointers":true,"timing":"lossy 5","mode":"clustered","verify":true,`+
		`"shared_spool":true,"spool_limit_bytes":1,"segment_bytes":2,"include":"p2p","exclude":"io","start_off":true,`+
		`"enabled":true,"reason":"r"}`, string(all))
}

func TestHeaderIsUpToDate(t *testing.T) {
	header, err := os.ReadFile("../shim/process/settings_gen.h")
	require.NoError(t, err)
	require.Equal(t, string(settings.Header()), string(header), "go generate ./tracer/settings")
}
