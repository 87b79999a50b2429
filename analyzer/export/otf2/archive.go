package otf2

// An Archive receives the output. Package library implements it as a directory in OTF2's format.
// Events of one location are written in order, those of several locations of a process interleaved.
// The definitions are written last.
type Archive interface {
	// Open starts a location.
	Open(location uint64) (Events, error)
	// Close finishes the archive with the definitions that events refer to.
	Close(*Definitions) error
}

// Events receives the events of a location, in order of time.
type Events interface {
	Write(*Event) error
	Close() error
}

// A Kind is a kind of event, as OTF2 has it.
type Kind uint8

// Kinds of events, with the fields of an Event that they use.
const (
	Enter                         Kind = iota // Object: the region; Site
	Leave                                     // Object: the region
	MeasurementOff                            //
	MeasurementOn                             //
	ProgramBegin                              // Object: the program's name, a string
	ProgramEnd                                //
	MpiSend                                   // Peer, Object: communicator, Tag, Sent
	MpiIsend                                  // and ID: request
	MpiIsendComplete                          // ID
	MpiIrecvRequest                           // ID
	MpiRecv                                   // Peer, Object: communicator, Tag, Received
	MpiIrecv                                  // and ID
	MpiRequestTest                            // ID
	MpiRequestCancelled                       // ID
	MpiCollectiveBegin                        //
	MpiCollectiveEnd                          // Op, Object: communicator, Peer: root, Sent, Received
	NonBlockingCollectiveRequest              // ID
	NonBlockingCollectiveComplete             // as MpiCollectiveEnd, and ID
	RmaWinCreate                              // Object: window, as in all that follow
	RmaWinDestroy                             //
	RmaCollectiveBegin                        //
	RmaCollectiveEnd                          // Op, Level, Peer: root, Sent, Received
	RmaRequestLock                            // Peer, ID: lock, Op: type of lock
	RmaAcquireLock                            // the same
	RmaReleaseLock                            // Peer, ID
	RmaSync                                   // Peer, Op: type of synchronization
	RmaPut                                    // Peer, Sent, ID: operation
	RmaGet                                    // Peer, Received, ID
	RmaAtomic                                 // Peer, Op, Sent, Received, ID
	RmaOpCompleteBlocking                     // ID
	RmaOpCompleteNonBlocking                  // ID
	RmaOpCompleteRemote                       // ID
	// Object: handle, as in all that follow; Op: access mode, Level: creation flags,
	// Tag: status flags
	IoCreateHandle
	IoDestroyHandle     //
	IoSeek              // Offset, Op: whence
	IoOperationBegin    // Op: mode, Level: flags, Sent: requested bytes, ID: operation
	IoOperationIssued   // ID
	IoOperationComplete // Received: bytes, ID
)

// An Event is one record of a location.
type Event struct {
	Time           uint64 // ns since the archive's beginning
	Kind           Kind
	Op             uint8
	Level          uint32
	Object         uint32
	Peer           uint32
	Tag            uint32
	Site           uint32 // call site of an MPI call, a string; Undefined: unknown
	Sent, Received uint64 // bytes
	ID             uint64
	Offset         int64
}
