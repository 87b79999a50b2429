//go:build otf2

package library

// #cgo pkg-config: otf2
// #include <otf2/otf2.h>
// #include <stdlib.h>
//
// static OTF2_FlushType always(void* u, OTF2_FileType t, OTF2_LocationRef l, void* c, bool final) {
//   return OTF2_FLUSH;
// }
// static OTF2_FlushCallbacks flush_callbacks = { .otf2_pre_flush = always };
//
// static OTF2_ErrorCode prepare(OTF2_Archive* a) {
//   OTF2_ErrorCode e = OTF2_Archive_SetFlushCallbacks(a, &flush_callbacks, NULL);
//   return e ? e : OTF2_Archive_SetSerialCollectiveCallbacks(a);
// }
//
// static OTF2_ErrorCode quiet(void* u, const char* f, uint64_t n, const char* fn, OTF2_ErrorCode e,
//                             const char* m, va_list a) {
//   return e;
// }
// static void be_quiet(void) { OTF2_Error_RegisterCallback(quiet, NULL); }
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/cairn-mpi/cairn/analyzer/export/otf2"
)

// Sizes of the chunks in memory of a location: the minimum of OTF2, and for definitions enough for
// the largest record, which is the members of a group.
const (
	eventChunk      = 1 << 18
	definitionChunk = 16 << 20
)

// An Archive is an archive that is being written. It implements otf2.Archive.
type Archive struct {
	archive *C.OTF2_Archive
}

// Create creates an archive in a directory that must not exist yet, with the anchor file
// traces.otf2.
func Create(directory string) (*Archive, error) {
	C.be_quiet()
	path, name := C.CString(directory), C.CString("traces")
	defer C.free(unsafe.Pointer(path))
	defer C.free(unsafe.Pointer(name))
	a := C.OTF2_Archive_Open(path, name, C.OTF2_FILEMODE_WRITE, eventChunk, definitionChunk, C.OTF2_SUBSTRATE_POSIX, C.OTF2_COMPRESSION_NONE)
	if a == nil {
		return nil, fmt.Errorf("OTF2 cannot make an archive in %s", directory)
	}
	if err := check(C.prepare(a), "make an archive in "+directory); err != nil {
		C.OTF2_Archive_Close(a)
		return nil, err
	}
	if err := check(C.OTF2_Archive_OpenEvtFiles(a), "open files of events"); err != nil {
		C.OTF2_Archive_Close(a)
		return nil, err
	}
	return &Archive{archive: a}, nil
}

// Abandon closes an incomplete archive.
func (a *Archive) Abandon() { C.OTF2_Archive_Close(a.archive) }

// check converts an error code of OTF2 into an error.
func check(code C.OTF2_ErrorCode, doing string) error {
	if code == C.OTF2_SUCCESS {
		return nil
	}
	return fmt.Errorf("OTF2 could not %s: %s (%s)", doing, C.GoString(C.OTF2_Error_GetDescription(code)), C.GoString(C.OTF2_Error_GetName(code)))
}

// Open implements otf2.Archive.
func (a *Archive) Open(location uint64) (otf2.Events, error) {
	w := C.OTF2_Archive_GetEvtWriter(a.archive, C.OTF2_LocationRef(location))
	if w == nil {
		return nil, fmt.Errorf("OTF2 cannot write events of location %d", location)
	}
	return &events{archive: a, writer: w, attributes: C.OTF2_AttributeList_New()}, nil
}

// Close implements otf2.Archive.
func (a *Archive) Close(d *otf2.Definitions) error {
	defer C.OTF2_Archive_Close(a.archive)
	if err := check(C.OTF2_Archive_CloseEvtFiles(a.archive), "close files of events"); err != nil {
		return err
	}
	if err := a.localDefinitions(d); err != nil {
		return err
	}
	return a.globalDefinitions(d)
}

// localDefinitions writes an empty file of mappings per location: readers expect it.
func (a *Archive) localDefinitions(d *otf2.Definitions) error {
	if err := check(C.OTF2_Archive_OpenDefFiles(a.archive), "open files of definitions"); err != nil {
		return err
	}
	for _, l := range d.Locations {
		w := C.OTF2_Archive_GetDefWriter(a.archive, C.OTF2_LocationRef(l.ID))
		if w == nil {
			return fmt.Errorf("OTF2 cannot write definitions of location %d", l.ID)
		}
		if err := check(C.OTF2_Archive_CloseDefWriter(a.archive, w), "close definitions of a location"); err != nil {
			return err
		}
	}
	return check(C.OTF2_Archive_CloseDefFiles(a.archive), "close files of definitions")
}
