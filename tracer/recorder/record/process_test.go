package record

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Constants are read as the shim writes them, and however else JSON may be written.
func TestConstantsOfProcessJSON(t *testing.T) {
	want := []Constant{{"comm", "MPI_COMM_NULL", 140242579282592}, {"limit", "MPI_ANY_TAG", 1<<64 - 1}}
	for _, text := range []string{
		"[{\"kind\":\"comm\",\n\"name\":\"MPI_COMM_NULL\",\n\"value\":140242579282592},\n" +
			"{\"kind\":\"limit\",\n\"name\":\"MPI_ANY_TAG\",\n\"value\":-1}]",
		`[ {"kind": "comm", "name": "MPI_COMM_NULL", "value": 140242579282592},{"value":-1,"name":"MPI_ANY_TAG","kind":"limit"}]`,
		`[{"kind":"c\u006fmm","name":"MPI_COMM_NULL","value":"0x7f8cc51edaa0","more":[]},{"kind":"limit","name":"MPI_ANY_TAG","value":-1}]`,
	} {
		p, err := ParseProcess([]byte(`{"constants":` + text + `}`))
		require.NoError(t, err, text)
		require.Equal(t, want, p.Constants, text)
	}
	for _, text := range []string{"{}", "[1]", `[{"kind":"a","name":"b","value":1.5}]`, `[{"kind":1}]`} {
		_, err := ParseProcess([]byte(`{"constants":` + text + `}`))
		require.Error(t, err, text)
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
