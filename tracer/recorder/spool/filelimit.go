package spool

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// fitsLimit returns an error if a file may not become size bytes long. A process that writes beyond
// RLIMIT_FSIZE gets SIGXFSZ, which would end the application. The limit is meant for the
// application's files, but it applies to ours, too.
func fitsLimit(size int64) error {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_FSIZE, &limit) == nil && uint64(size) > limit.Cur {
		return fmt.Errorf("a file of %d bytes is more than the limit of file sizes (ulimit -f) allows, %d: %w", size, limit.Cur, unix.EFBIG)
	}
	return nil
}
