package localrun

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/cairn-mpi/cairn/shipper"
	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
)

// notMerged returns why the spool is needed beside the traces of runs, "" if it is not.
func notMerged(spool string, runs []shipper.LocalRun) string {
	names, err := shipper.Unmerged(spool, runs)
	switch {
	case err != nil:
		return err.Error()
	case len(names) == 0:
		return ""
	case len(names) > maxProblems:
		return fmt.Sprintf("%d processes in it are in no trace, or still run", len(names))
	}
	verb := "are"
	if len(names) == 1 {
		verb = "is"
	}
	return fmt.Sprintf("%s %s in no trace, or still run", strings.Join(names, ", "), verb)
}

// keepSpool has the spool removed with the tracer if it is not needed. Otherwise it prints where
// the spool is, how large, and why it is kept.
func (r Run) keepSpool(folder *runFolder, why string) {
	if folder.merged = why == ""; folder.merged || !folder.recorded() {
		return
	}
	r.saveBuffers(folder)
	r.say("the raw records are kept in %s (%d bytes), because %s; delete the folder if you do not need them", r.relative(folder.spool()),
		folderBytes(folder.spool()), why)
}

// saveBuffers copies the buffers on the tmpfs, which is removed, into the spool.
func (r Run) saveBuffers(folder *runFolder) {
	if err := spool.SaveFromTmpfs(folder.spool()); err != nil {
		r.say("some of the raw records cannot be kept: %v", err)
	}
}

// folderBytes returns the total size of the files in a folder, without holes.
func folderBytes(folder string) (total int64) {
	_ = filepath.WalkDir(folder, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				total += min(info.Size(), 512*info.Sys().(*syscall.Stat_t).Blocks)
			}
		}
		return nil
	})
	return total
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
