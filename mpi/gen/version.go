package main

import (
	"strconv"
	"strings"

	"github.com/cairn-mpi/cairn/mpi"
)

func parseID(l line, s string) (uint16, error) {
	id, err := strconv.ParseUint(s, 10, 16)
	if err != nil || id == 0 {
		return 0, l.errorf("bad id %q", s)
	}
	return uint16(id), nil
}

// parseVersions reads `1.0`, `1.0-2.0` or `1.0-2.0-3.0`: since, deprecated,
// removed.
func parseVersions(l line, s string, since, deprecated, removed *mpi.Version) error {
	versions := strings.Split(s, "-")
	if len(versions) > 3 {
		return l.errorf("want since-deprecated-removed, got %q", s)
	}
	for i, v := range versions {
		var err error
		if *[]*mpi.Version{since, deprecated, removed}[i], err = parseVersion(l, v); err != nil {
			return err
		}
	}
	return nil
}

func parseVersion(l line, s string) (mpi.Version, error) {
	major, minor, ok := strings.Cut(s, ".")
	a, err1 := strconv.ParseUint(major, 10, 8)
	b, err2 := strconv.ParseUint(minor, 10, 8)
	if !ok || err1 != nil || err2 != nil || a == 0 || b > 99 {
		return 0, l.errorf("bad version %q", s)
	}
	return mpi.Version(a*100 + b), nil
}
