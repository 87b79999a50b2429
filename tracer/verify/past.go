package verify

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cairn-mpi/cairn/mpi"
)

// addPast adds the calls of a rank that came to the MPI library past the shim
// (tracer/shim/reference/entries.h). Neither the trace nor the log has them.
func addPast(result *Result, rank int, dir string) error {
	path := filepath.Join(dir, "reference", "past")
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		result.Unwatched = len(mpi.Functions) - 1
		return nil
	}
	if err != nil {
		return err
	}
	if len(b) != 8*len(mpi.Functions) {
		return fmt.Errorf("%s has %d bytes, not a number for each of %d functions", path, len(b), len(mpi.Functions))
	}
	number := func(i int) uint64 { return binary.NativeEndian.Uint64(b[8*i:]) }
	result.Unwatched = max(result.Unwatched, int(number(0)))
	for id := 1; id < len(mpi.Functions); id++ {
		if n := number(id); n > 0 {
			result.add(Disagreement{Rank: rank, Reason: fmt.Sprintf("%d calls of %s are not in the trace: they reached the MPI library past the tracer",
				n, mpi.Functions[id].Name)})
		}
	}
	return nil
}
