package setup

import (
	"bufio"
	"encoding/binary"
	"io"
	"path"
	"slices"
	"strings"
)

// The cache that ldconfig writes, in glibc's format 1.1: a header of 48 bytes
// (magic, number of entries, length of strings, …), entries of 24 bytes (flags,
// offsets of name and path, …), strings. Offsets count from the header, which
// may come after the old format's table.
const (
	cacheMagic      = "glibc-ld.so.cache1.1"
	cacheHeaderSize = 48
	cacheEntrySize  = 24
)

// cachedDirectories returns the directories of the MPI libraries in the cache.
func cachedDirectories(t *tree) []string {
	file, err := t.open("/etc/ld.so.cache", localOnly)
	if err != nil {
		return nil
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil
	}
	offsets := offsetsOf(file, []byte(cacheMagic), 1)
	if len(offsets) == 0 {
		return nil
	}
	cache := io.NewSectionReader(file, offsets[0], info.Size()-offsets[0])
	header := make([]byte, cacheHeaderSize)
	if _, err := cache.ReadAt(header, 0); err != nil {
		return nil
	}
	var directories []string
	entries := bufio.NewReader(io.NewSectionReader(cache, cacheHeaderSize, cache.Size()))
	entry := make([]byte, cacheEntrySize)
	for range binary.NativeEndian.Uint32(header[20:]) {
		if _, err := io.ReadFull(entries, entry); err != nil {
			break
		}
		name := stringFrom(cache, int64(binary.NativeEndian.Uint32(entry[8:])))
		if dir := path.Dir(name); strings.HasPrefix(path.Base(name), "libmpi") && path.IsAbs(name) && !slices.Contains(directories, dir) {
			directories = append(directories, dir)
		}
	}
	return directories
}
