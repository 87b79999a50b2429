package record

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// However constants are written, they are what encoding/json reads.
func TestConstantsAreReadAsJSON(t *testing.T) {
	const shim = "[{\"kind\":\"comm\",\n\"name\":\"MPI_COMM_NULL\",\n\"value\":140242579282592},\n" +
		"{\"kind\":\"limit\",\n\"name\":\"MPI_ANY_TAG\",\n\"value\":-1}]"
	list, ok := parseConstants(shim)
	require.True(t, ok)
	require.Equal(t, []Constant{{"comm", "MPI_COMM_NULL", 140242579282592}, {"limit", "MPI_ANY_TAG", 1<<64 - 1}}, list)
	for _, text := range []string{
		shim, "[]", "null", "{}", "[1]", "[{}]", `[ {"kind":"comm","name":"A","value":1} ]`,
		`[{"value":"0x10","kind":"a\"b","name":"\u0041"}]`,
		"[{\"kind\":\"a\\\"\",\n\"name\":\"b\",\n\"value\":1}]",
		"[{\"kind\":\"a\",\n\"name\":\"b\",\n\"value\":1,\"more\":2}]",
		"[{\"kind\":\"a\",\n\"name\":\"b\",\n\"value\":1.5}]",
		"[{\"kind\":\"a\",\n\"name\":\"b\"},\n{\"kind\":\"c\",\n\"name\":\"d\",\n\"value\":2}]",
	} {
		var want []Constant
		var got constantList
		wantErr, gotErr := json.Unmarshal([]byte(text), &want), json.Unmarshal([]byte(text), &got)
		require.Equal(t, wantErr == nil, gotErr == nil, text)
		if wantErr == nil {
			require.Equal(t, len(want), len(got), text)
			require.ElementsMatch(t, want, []Constant(got), text)
		}
	}
}

func TestLibraryVersion(t *testing.T) {
	for text, want := range map[string]string{
		"Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022": "4.1.4",
		"MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr  7 12:34:45 CDT 2022\n":             "4.0.2",
		"Intel(R) MPI Library 2021.11 for Linux* OS\n":                                           "2021.11",
		"4.0.2":   "4.0.2",
		"no idea": "no idea",
	} {
		p := Process{LibraryVersion: text}
		if got := p.Version(); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
