//go:build otf2

package library

// #include <otf2/otf2.h>
//
// // enter records that a region is entered, from a call site if that is known: attribute 0.
// static OTF2_ErrorCode enter(OTF2_EvtWriter* w, OTF2_AttributeList* a, uint64_t time,
//                             uint32_t region, uint32_t site) {
//   if (site != OTF2_UNDEFINED_STRING) OTF2_AttributeList_AddStringRef(a, 0, site);
//   return OTF2_EvtWriter_Enter(w, a, time, region);
// }
import "C"

import (
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/export/otf2"
)

// events writes those of one location.
type events struct {
	archive    *Archive
	writer     *C.OTF2_EvtWriter
	attributes *C.OTF2_AttributeList
}

// Close implements otf2.Events.
func (w *events) Close() error {
	C.OTF2_AttributeList_Delete(w.attributes)
	return check(C.OTF2_Archive_CloseEvtWriter(w.archive.archive, w.writer), "write the last events of a location")
}

// Write implements otf2.Events.
func (w *events) Write(e *otf2.Event) error {
	t := C.OTF2_TimeStamp(e.Time)
	var code C.OTF2_ErrorCode
	switch e.Kind {
	case otf2.Enter:
		code = C.enter(w.writer, w.attributes, C.uint64_t(e.Time), C.uint32_t(e.Object), C.uint32_t(e.Site))
	case otf2.Leave:
		code = C.OTF2_EvtWriter_Leave(w.writer, nil, t, C.OTF2_RegionRef(e.Object))
	case otf2.MeasurementOff:
		code = C.OTF2_EvtWriter_MeasurementOnOff(w.writer, nil, t, C.OTF2_MEASUREMENT_OFF)
	case otf2.MeasurementOn:
		code = C.OTF2_EvtWriter_MeasurementOnOff(w.writer, nil, t, C.OTF2_MEASUREMENT_ON)
	case otf2.ProgramBegin:
		code = C.OTF2_EvtWriter_ProgramBegin(w.writer, nil, t, C.OTF2_StringRef(e.Object), 0, nil)
	case otf2.ProgramEnd:
		code = C.OTF2_EvtWriter_ProgramEnd(w.writer, nil, t, C.OTF2_UNDEFINED_INT64)
	default:
		code = w.mpi(e, t)
	}
	if code != C.OTF2_SUCCESS {
		return check(code, fmt.Sprintf("write an event of kind %d", e.Kind))
	}
	return nil
}

// mpi writes the events of messages and collective operations.
func (w *events) mpi(e *otf2.Event, t C.OTF2_TimeStamp) C.OTF2_ErrorCode {
	peer, comm, tag := C.uint32_t(e.Peer), C.OTF2_CommRef(e.Object), C.uint32_t(e.Tag)
	sent, received, id := C.uint64_t(e.Sent), C.uint64_t(e.Received), C.uint64_t(e.ID)
	op := C.OTF2_CollectiveOp(e.Op)
	switch e.Kind {
	case otf2.MpiSend:
		return C.OTF2_EvtWriter_MpiSend(w.writer, nil, t, peer, comm, tag, sent)
	case otf2.MpiIsend:
		return C.OTF2_EvtWriter_MpiIsend(w.writer, nil, t, peer, comm, tag, sent, id)
	case otf2.MpiIsendComplete:
		return C.OTF2_EvtWriter_MpiIsendComplete(w.writer, nil, t, id)
	case otf2.MpiIrecvRequest:
		return C.OTF2_EvtWriter_MpiIrecvRequest(w.writer, nil, t, id)
	case otf2.MpiRecv:
		return C.OTF2_EvtWriter_MpiRecv(w.writer, nil, t, peer, comm, tag, received)
	case otf2.MpiIrecv:
		return C.OTF2_EvtWriter_MpiIrecv(w.writer, nil, t, peer, comm, tag, received, id)
	case otf2.MpiRequestTest:
		return C.OTF2_EvtWriter_MpiRequestTest(w.writer, nil, t, id)
	case otf2.MpiRequestCancelled:
		return C.OTF2_EvtWriter_MpiRequestCancelled(w.writer, nil, t, id)
	case otf2.MpiCollectiveBegin:
		return C.OTF2_EvtWriter_MpiCollectiveBegin(w.writer, nil, t)
	case otf2.MpiCollectiveEnd:
		return C.OTF2_EvtWriter_MpiCollectiveEnd(w.writer, nil, t, op, comm, peer, sent, received)
	case otf2.NonBlockingCollectiveRequest:
		return C.OTF2_EvtWriter_NonBlockingCollectiveRequest(w.writer, nil, t, id)
	case otf2.NonBlockingCollectiveComplete:
		return C.OTF2_EvtWriter_NonBlockingCollectiveComplete(w.writer, nil, t, op, comm, peer, sent, received, id)
	}
	return w.access(e, t)
}

// access writes the events of windows and files.
func (w *events) access(e *otf2.Event, t C.OTF2_TimeStamp) C.OTF2_ErrorCode {
	peer, win, handle := C.uint32_t(e.Peer), C.OTF2_RmaWinRef(e.Object), C.OTF2_IoHandleRef(e.Object)
	sent, received, id := C.uint64_t(e.Sent), C.uint64_t(e.Received), C.uint64_t(e.ID)
	switch e.Kind {
	case otf2.RmaWinCreate:
		return C.OTF2_EvtWriter_RmaWinCreate(w.writer, nil, t, win)
	case otf2.RmaWinDestroy:
		return C.OTF2_EvtWriter_RmaWinDestroy(w.writer, nil, t, win)
	case otf2.RmaCollectiveBegin:
		return C.OTF2_EvtWriter_RmaCollectiveBegin(w.writer, nil, t)
	case otf2.RmaCollectiveEnd:
		return C.OTF2_EvtWriter_RmaCollectiveEnd(w.writer, nil, t, C.OTF2_CollectiveOp(e.Op), C.OTF2_RmaSyncLevel(e.Level), win, peer, sent, received)
	case otf2.RmaRequestLock:
		return C.OTF2_EvtWriter_RmaRequestLock(w.writer, nil, t, win, peer, id, C.OTF2_LockType(e.Op))
	case otf2.RmaAcquireLock:
		return C.OTF2_EvtWriter_RmaAcquireLock(w.writer, nil, t, win, peer, id, C.OTF2_LockType(e.Op))
	case otf2.RmaReleaseLock:
		return C.OTF2_EvtWriter_RmaReleaseLock(w.writer, nil, t, win, peer, id)
	case otf2.RmaSync:
		return C.OTF2_EvtWriter_RmaSync(w.writer, nil, t, win, peer, C.OTF2_RmaSyncType(e.Op))
	case otf2.RmaPut:
		return C.OTF2_EvtWriter_RmaPut(w.writer, nil, t, win, peer, sent, id)
	case otf2.RmaGet:
		return C.OTF2_EvtWriter_RmaGet(w.writer, nil, t, win, peer, received, id)
	case otf2.RmaAtomic:
		return C.OTF2_EvtWriter_RmaAtomic(w.writer, nil, t, win, peer, C.OTF2_RmaAtomicType(e.Op), sent, received, id)
	case otf2.RmaOpCompleteBlocking:
		return C.OTF2_EvtWriter_RmaOpCompleteBlocking(w.writer, nil, t, win, id)
	case otf2.RmaOpCompleteNonBlocking:
		return C.OTF2_EvtWriter_RmaOpCompleteNonBlocking(w.writer, nil, t, win, id)
	case otf2.RmaOpCompleteRemote:
		return C.OTF2_EvtWriter_RmaOpCompleteRemote(w.writer, nil, t, win, id)
	case otf2.IoCreateHandle:
		return C.OTF2_EvtWriter_IoCreateHandle(w.writer, nil, t, handle, C.OTF2_IoAccessMode(e.Op), C.OTF2_IoCreationFlag(e.Level), C.OTF2_IoStatusFlag(e.Tag))
	case otf2.IoDestroyHandle:
		return C.OTF2_EvtWriter_IoDestroyHandle(w.writer, nil, t, handle)
	case otf2.IoSeek:
		return C.OTF2_EvtWriter_IoSeek(w.writer, nil, t, handle, C.int64_t(e.Offset), C.OTF2_IoSeekOption(e.Op), C.OTF2_UNDEFINED_UINT64)
	case otf2.IoOperationBegin:
		return C.OTF2_EvtWriter_IoOperationBegin(w.writer, nil, t, handle, C.OTF2_IoOperationMode(e.Op), C.OTF2_IoOperationFlag(e.Level), sent, id)
	case otf2.IoOperationIssued:
		return C.OTF2_EvtWriter_IoOperationIssued(w.writer, nil, t, handle, id)
	case otf2.IoOperationComplete:
		return C.OTF2_EvtWriter_IoOperationComplete(w.writer, nil, t, handle, received, id)
	}
	return C.OTF2_ERROR_INVALID_RECORD
}
