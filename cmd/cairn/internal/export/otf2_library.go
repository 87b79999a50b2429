//go:build otf2

package export

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/export/otf2"
	"github.com/cairn-mpi/cairn/analyzer/export/otf2/library"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

// startOTF2 is nil: this command has the library.
var startOTF2 func() error

func writeOTF2(ctx context.Context, directory string, t timeline.Trace, o otf2.Options) (otf2.Summary, error) {
	archive, err := library.Create(directory)
	if err != nil {
		return otf2.Summary{}, err
	}
	summary, err := otf2.Write(ctx, archive, t, o)
	if err != nil {
		archive.Abandon()
	}
	return summary, err
}
