package setup

import (
	"bytes"
	"encoding/binary"
	"path"
	"path/filepath"
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

// cachedDirectories are the directories of the MPI libraries that the cache names.
func cachedDirectories(image string) []string {
	content, err := readBounded(filepath.Join(image, "etc/ld.so.cache"))
	if err != nil {
		return nil
	}
	at := bytes.Index(content, []byte(cacheMagic))
	if at < 0 || len(content)-at < cacheHeaderSize {
		return nil
	}
	content = content[at:]
	entries := int(binary.NativeEndian.Uint32(content[20:]))
	var directories []string
	for i := range entries {
		offset := cacheHeaderSize + i*cacheEntrySize
		if offset+cacheEntrySize > len(content) {
			break
		}
		file := cString(content, binary.NativeEndian.Uint32(content[offset+8:]))
		if name := path.Base(file); strings.HasPrefix(name, "libmpi") && path.IsAbs(file) {
			directories = append(directories, filepath.Join(image, path.Dir(file)))
		}
	}
	return directories
}

func cString(content []byte, offset uint32) string {
	if int(offset) >= len(content) {
		return ""
	}
	text, _, ok := bytes.Cut(content[offset:], []byte{0})
	if !ok {
		return ""
	}
	return string(text)
}
