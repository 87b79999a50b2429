package rewrite

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/analyzer/reduce"
	"github.com/cairn-mpi/cairn/analyzer/wording"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracefile"
	"github.com/cairn-mpi/cairn/trace"
)

// reduceToHistograms writes a trace of histograms and prints how accurate it is.
func reduceToHistograms(c *cobra.Command, s3 storage.Flags, path, out string) error {
	f, err := tracefile.Open(c.Context(), path, s3)
	if err != nil {
		return err
	}
	defer f.Close()
	h, err := reduce.Histograms(c.Context(), f.Reader, f.Object.Size())
	if err != nil {
		return tracefile.Damaged(path, err)
	}
	var file bytes.Buffer
	if err := trace.WriteHistograms(&file, h); err != nil {
		return err
	}
	accuracy, err := reduce.CompareHistograms(f.Reader, h)
	if err != nil {
		return tracefile.Damaged(path, err)
	}
	if err := storage.PutObject(c, s3, out, file.Bytes()); err != nil {
		return err
	}
	w := c.OutOrStdout()
	fmt.Fprintf(w, "%s: %d calls of %s as %s in %d bytes, %.1f%% of the whole trace's\n", out, h.From.Calls,
		wording.Count(h.Ranks.Len(), "rank", "ranks"), wording.Count(len(h.Clusters), "cluster", "clusters"), file.Len(), 100*float64(file.Len())/float64(f.Object.Size()))
	medians := "the median durations cannot be compared, since the trace has only sums of times"
	if accuracy.MediansKnown {
		medians = fmt.Sprintf("the median duration of a call by %.1f%% at most", 100*accuracy.Medians)
	}
	fmt.Fprintf(w, "compared with the whole trace: calls by function off by %.3g%%, bytes by %.3g%%, time by %.3g%%, time of the run by %.3g%%; %s\n",
		100*accuracy.Calls, 100*accuracy.Bytes, 100*accuracy.Time, 100*accuracy.Run, medians)
	if accuracy.MatrixKnown {
		fmt.Fprintf(w, "communication matrix: %.3g%% of the bytes are between other ranks (relative L1 error %.3f); their sum is exact\n", 100*accuracy.Matrix/2, accuracy.Matrix)
	}
	fmt.Fprintf(w, "lost: %s\n", strings.Join(h.Lost, "; "))
	return nil
}
