//go:build mpi

package shimtest

import (
	"debug/elf"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// maxGlibc is the newest version of glibc that the libraries may need, as the second number of
// 2.17.
const maxGlibc = 17

// musl is Debian's.
const musl = "/lib/ld-musl-x86_64.so.1"

func symbolsOf(t *testing.T, path string, of func(*elf.File) ([]elf.Symbol, error)) []elf.Symbol {
	t.Helper()
	file, err := elf.Open(path)
	require.NoError(t, err)
	defer file.Close()
	symbols, err := of(file)
	require.NoError(t, err)
	require.NotEmpty(t, symbols)
	return symbols
}

// The libraries need nothing but the C library of the image that they are copied into, which may
// be an old glibc or musl, which has the same symbols on arm64. musl ends a process if a symbol
// that is not weak is missing.
func TestLibraries(t *testing.T) {
	t.Parallel()
	of := map[string]bool{}
	for _, s := range symbolsOf(t, musl, (*elf.File).DynamicSymbols) {
		of[s.Name] = s.Section != elf.SHN_UNDEF
	}
	libraries, err := filepath.Glob(filepath.Join(Root(), "lib", "libcairn-*.so"))
	require.NoError(t, err)
	require.Len(t, libraries, len(Libraries)+1)
	arm64, err := filepath.Glob(filepath.Join(Variant(t, "arm64"), "libcairn-*.so"))
	require.NoError(t, err)
	require.Len(t, arm64, 3)
	libraries = append(libraries, arm64...)
	for _, library := range libraries {
		shim := slices.Contains(Implementations, strings.TrimSuffix(strings.TrimPrefix(filepath.Base(library), "libcairn-"), ".so"))
		for _, s := range symbolsOf(t, library, (*elf.File).DynamicSymbols) {
			if s.Section != elf.SHN_UNDEF {
				continue
			}
			weak := elf.ST_BIND(s.Info) == elf.STB_WEAK
			require.True(t, weak || of[s.Name], "%s: musl has no %s", library, s.Name)
			if s.Name == "__tls_get_addr" && !shim { // glibc's dynamic linker has it, musl's libc
				continue
			}
			version, ok := strings.CutPrefix(s.Version, "GLIBC_2.")
			require.True(t, ok, "%s: %s has version %q", library, s.Name, s.Version)
			version, _, _ = strings.Cut(version, ".")
			minor, err := strconv.Atoi(version)
			require.NoError(t, err)
			require.LessOrEqual(t, minor, maxGlibc, "%s: %s", library, s.Name)
		}
		file, err := elf.Open(library)
		require.NoError(t, err)
		needed, err := file.ImportedLibraries()
		require.NoError(t, err)
		if filepath.Base(library) == "libcairn-allocations.so" {
			require.Subset(t, []string{"libdl.so.2", "libpthread.so.0", "libc.so.6"}, needed)
		} else {
			require.Equal(t, []string{"libc.so.6"}, needed, library)
		}
		for _, tag := range []elf.DynTag{elf.DT_INIT, elf.DT_INIT_ARRAY, elf.DT_TEXTREL} {
			values, err := file.DynValue(tag)
			require.NoError(t, err)
			require.Empty(t, values, "%s: %s: nothing may run in a process without MPI", library, tag)
		}
		require.NoError(t, file.Close())
	}
}
