package setup

import (
	"bufio"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Limits of the sizes in a library's headers, since package elf reads headers completely.
const (
	maxSections     = 4 << 10
	maxSectionNames = 1 << 20
	maxDynamic      = 64 << 10
	maxCopies       = 64 // of one name in a string table
)

// elfFile is a library of the image, of any size: its tables are read in pieces.
type elfFile struct {
	*elf.File
	file *os.File
}

// openELF opens a library of the image.
func openELF(t *tree, name string, how reach) (*elfFile, error) {
	file, err := t.open(name, how)
	if err != nil {
		return nil, err
	}
	err = checkHeaders(file)
	if err == nil {
		var parsed *elf.File
		if parsed, err = elf.NewFile(file); err == nil {
			return &elfFile{parsed, file}, nil
		}
	}
	file.Close()
	return nil, fmt.Errorf("%s: %w", name, err)
}

func (f *elfFile) Close() error { return f.file.Close() }

// checkHeaders refuses a file if its headers do not fit in memory.
func checkHeaders(r io.ReaderAt) error {
	header := make([]byte, 64)
	if _, err := r.ReadAt(header, 0); err != nil {
		return err
	}
	if !bytes.HasPrefix(header, []byte(elf.ELFMAG)) {
		return errors.New("no ELF file")
	}
	var order binary.ByteOrder = binary.LittleEndian
	if elf.Data(header[elf.EI_DATA]) == elf.ELFDATA2MSB {
		order = binary.BigEndian
	}
	table, size, count, names := int64(order.Uint64(header[40:])), order.Uint16(header[58:]), order.Uint16(header[60:]), order.Uint16(header[62:])
	sizeAt := int64(32)
	wide := elf.Class(header[elf.EI_CLASS]) == elf.ELFCLASS64
	if !wide {
		table, size, count, names = int64(order.Uint32(header[32:])), order.Uint16(header[46:]), order.Uint16(header[48:]), order.Uint16(header[50:])
		sizeAt = 20
	}
	if table == 0 {
		return errors.New("no sections")
	}
	if count == 0 || count > maxSections {
		return fmt.Errorf("%d sections", count)
	}
	field := make([]byte, 8)
	if _, err := r.ReadAt(field, table+int64(names)*int64(size)+sizeAt); err != nil {
		return err
	}
	length := uint64(order.Uint32(field))
	if wide {
		length = order.Uint64(field)
	}
	if length > maxSectionNames {
		return fmt.Errorf("names of sections of %d bytes", length)
	}
	return nil
}

// loaded returns the parts of the file that are mapped at run time: constants are in one of them.
func (f *elfFile) loaded() []io.Reader {
	var parts []io.Reader
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			parts = append(parts, p.Open())
		}
	}
	return parts
}

// linked returns a section of a type and its string section.
func (f *elfFile) linked(kind elf.SectionType) (section, texts *elf.Section) {
	section = f.SectionByType(kind)
	if section == nil || int(section.Link) >= len(f.Sections) {
		return nil, nil
	}
	return section, f.Sections[section.Link]
}

// defined returns those of the names that the library defines, with their addresses.
func (f *elfFile) defined(names ...string) map[string]uint64 {
	table, texts := f.linked(elf.SHT_DYNSYM)
	found := map[string]uint64{}
	if table == nil {
		return found
	}
	at := map[uint32]string{} // by offset; a name may be the end of a longer one
	for _, name := range names {
		for _, offset := range offsetsOf(texts.Open(), []byte(name+"\x00"), maxCopies) {
			at[uint32(offset)] = name
		}
	}
	entry := make([]byte, elf.Sym64Size)
	if f.Class == elf.ELFCLASS32 {
		entry = entry[:elf.Sym32Size]
	}
	for r := bufio.NewReaderSize(table.Open(), windowBytes); ; {
		if _, err := io.ReadFull(r, entry); err != nil {
			return found
		}
		name, ok := at[f.ByteOrder.Uint32(entry)]
		if !ok {
			continue
		}
		section, address := f.ByteOrder.Uint16(entry[6:]), uint64(0)
		if f.Class == elf.ELFCLASS32 {
			section, address = f.ByteOrder.Uint16(entry[14:]), uint64(f.ByteOrder.Uint32(entry[4:]))
		} else {
			address = f.ByteOrder.Uint64(entry[8:])
		}
		if elf.SectionIndex(section) != elf.SHN_UNDEF {
			found[name] = address
		}
	}
}

// soname returns the name of the library for programs that are linked with it.
func (f *elfFile) soname() string {
	section, texts := f.linked(elf.SHT_DYNAMIC)
	if section == nil || section.Size > maxDynamic {
		return ""
	}
	raw, err := section.Data()
	if err != nil {
		return ""
	}
	word := 8
	if f.Class == elf.ELFCLASS32 {
		word = 4
	}
	read := func(b []byte) uint64 {
		if word == 4 {
			return uint64(f.ByteOrder.Uint32(b))
		}
		return f.ByteOrder.Uint64(b)
	}
	for ; len(raw) >= 2*word; raw = raw[2*word:] {
		if elf.DynTag(read(raw)) == elf.DT_SONAME {
			return stringFrom(texts, int64(read(raw[word:])))
		}
	}
	return ""
}

// stringAt returns the C string at an address.
func (f *elfFile) stringAt(address uint64) string {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && address >= p.Vaddr && address-p.Vaddr < p.Filesz {
			return stringFrom(p, int64(address-p.Vaddr))
		}
	}
	return ""
}

// stringFrom returns a short C string; "" if it is not terminated.
func stringFrom(r io.ReaderAt, offset int64) string {
	const longest = 256
	buffer := make([]byte, longest)
	n, err := r.ReadAt(buffer, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return ""
	}
	text, _, ended := strings.Cut(string(buffer[:n]), "\x00")
	if !ended {
		return ""
	}
	return text
}
