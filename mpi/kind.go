package mpi

// Kind is the meaning of a value, which its C type alone does not determine.
type Kind uint8

// The kinds. Their order is not part of any format: traces and texts use the
// names.
const (
	KindNone Kind = iota

	// Memory and strings.
	KindBuffer        // choice buffer: may be MPI_BOTTOM or MPI_IN_PLACE
	KindPointer       // void * that MPI keeps or hands out: attribute, extra state, allocated memory
	KindString        // char *, terminated by 0
	KindArgc          // int *argc of MPI_Init
	KindArgv          // char ***argv of MPI_Init
	KindStrings       // char **, an argument list
	KindArgumentLists // char ***, the argument lists of several commands
	KindFunction      // callback

	// Numbers.
	KindInt      // a number with no other meaning: ndims, a size, a version
	KindCount    // a number of elements, of array entries, of requests
	KindDispl    // displacement in a v/w collective; in elements or bytes
	KindBytes    // number of bytes, position in a packed buffer
	KindExtent   // displacement, stride or extent in a datatype, in bytes
	KindAint     // address, displacement in a window, window size
	KindDispUnit // displacement unit of a window
	KindOffset   // file offset
	KindDouble
	KindBool      // a logical: "flag" and the like
	KindPartition // partition of a partitioned operation
	KindTimestamp // tick count of the tool interface
	KindFint      // a Fortran integer: MPI_Fint

	// Values that refer to a communicator or to matching.
	KindRank  // a peer: may be MPI_ANY_SOURCE, MPI_PROC_NULL
	KindRoot  // may be MPI_ROOT, MPI_PROC_NULL
	KindTag   // may be MPI_ANY_TAG
	KindColor // may be MPI_UNDEFINED
	KindKey   // orders ranks in a new communicator
	KindIndex // index into an array of requests, or MPI_UNDEFINED
	KindCoord // coordinate in a Cartesian grid

	// Values with named constants; see constants.txt.
	KindErrorCode
	KindErrorClass
	KindThreadLevel
	KindComparison
	KindSplitType
	KindAssertion  // RMA assertions, a bit mask
	KindAccessMode // file access, a bit mask
	KindLockType
	KindCombiner
	KindOrdering     // MPI_ORDER_C, MPI_ORDER_FORTRAN
	KindDistribution // MPI_DISTRIBUTE_BLOCK, ...
	KindDistributionArg
	KindWhence    // MPI_SEEK_SET, ...
	KindTopology  // MPI_GRAPH, ...
	KindTypeClass // MPI_TYPECLASS_REAL, ...
	KindWinFlavor // value of the attribute MPI_WIN_CREATE_FLAVOR; no parameter has it
	KindWinModel  // value of the attribute MPI_WIN_MODEL; no parameter has it
	KindLimit     // a size that mpi.h fixes; no parameter has it

	// Handles.
	KindDatatype
	KindOp
	KindComm
	KindGroup
	KindWin
	KindFile
	KindInfo
	KindRequest
	KindMessage
	KindErrhandler
	KindSession
	KindKeyval // an int, created and freed like a handle

	// Statuses.
	KindStatus    // MPI_Status
	KindFStatus   // a status in mpif.h form: MPI_F_STATUS_SIZE MPI_Fints
	KindF08Status // MPI_F08_status

	// Tool interface: handles, then values with named constants.
	KindCvarHandle
	KindPvarHandle
	KindPvarSession
	KindEnum
	KindEventRegistration
	KindEventInstance
	KindVerbosity
	KindBind
	KindScope
	KindPvarClass
	KindCallbackSafety
	KindSourceOrder

	numKinds
)

// kindInfo has the properties that all parameters of a kind share.
type kindInfo struct {
	name   string
	ctype  string // C type of an element
	large  string // C type in a large-count function, if different
	handle bool
}

var kinds = [numKinds]kindInfo{
	KindNone:              {name: "none", ctype: "void"},
	KindBuffer:            {name: "buffer", ctype: "void"},
	KindPointer:           {name: "pointer", ctype: "void"},
	KindString:            {name: "string", ctype: "char"},
	KindArgc:              {name: "argc", ctype: "int"},
	KindArgv:              {name: "argv", ctype: "char **"},
	KindStrings:           {name: "strings", ctype: "char *"},
	KindArgumentLists:     {name: "argument-lists", ctype: "char **"},
	KindFunction:          {name: "function"},
	KindInt:               {name: "int", ctype: "int"},
	KindCount:             {name: "count", ctype: "int", large: "MPI_Count"},
	KindDispl:             {name: "displ", ctype: "int", large: "MPI_Aint"},
	KindBytes:             {name: "bytes", ctype: "int", large: "MPI_Count"},
	KindExtent:            {name: "extent", ctype: "MPI_Aint", large: "MPI_Count"},
	KindAint:              {name: "aint", ctype: "MPI_Aint"},
	KindDispUnit:          {name: "disp-unit", ctype: "int", large: "MPI_Aint"},
	KindOffset:            {name: "offset", ctype: "MPI_Offset"},
	KindDouble:            {name: "double", ctype: "double"},
	KindBool:              {name: "bool", ctype: "int"},
	KindPartition:         {name: "partition", ctype: "int"},
	KindTimestamp:         {name: "timestamp", ctype: "MPI_Count"},
	KindFint:              {name: "fint", ctype: "MPI_Fint"},
	KindRank:              {name: "rank", ctype: "int"},
	KindRoot:              {name: "root", ctype: "int"},
	KindTag:               {name: "tag", ctype: "int"},
	KindColor:             {name: "color", ctype: "int"},
	KindKey:               {name: "key", ctype: "int"},
	KindIndex:             {name: "index", ctype: "int"},
	KindCoord:             {name: "coord", ctype: "int"},
	KindErrorCode:         {name: "error-code", ctype: "int"},
	KindErrorClass:        {name: "error-class", ctype: "int"},
	KindThreadLevel:       {name: "thread-level", ctype: "int"},
	KindComparison:        {name: "comparison", ctype: "int"},
	KindSplitType:         {name: "split-type", ctype: "int"},
	KindAssertion:         {name: "assertion", ctype: "int"},
	KindAccessMode:        {name: "access-mode", ctype: "int"},
	KindLockType:          {name: "lock-type", ctype: "int"},
	KindCombiner:          {name: "combiner", ctype: "int"},
	KindOrdering:          {name: "ordering", ctype: "int"},
	KindDistribution:      {name: "distribution", ctype: "int"},
	KindDistributionArg:   {name: "distribution-arg", ctype: "int"},
	KindWhence:            {name: "whence", ctype: "int"},
	KindTopology:          {name: "topology", ctype: "int"},
	KindTypeClass:         {name: "type-class", ctype: "int"},
	KindWinFlavor:         {name: "win-flavor", ctype: "int"},
	KindWinModel:          {name: "win-model", ctype: "int"},
	KindLimit:             {name: "limit", ctype: "int"},
	KindDatatype:          {name: "datatype", ctype: "MPI_Datatype", handle: true},
	KindOp:                {name: "op", ctype: "MPI_Op", handle: true},
	KindComm:              {name: "comm", ctype: "MPI_Comm", handle: true},
	KindGroup:             {name: "group", ctype: "MPI_Group", handle: true},
	KindWin:               {name: "win", ctype: "MPI_Win", handle: true},
	KindFile:              {name: "file", ctype: "MPI_File", handle: true},
	KindInfo:              {name: "info", ctype: "MPI_Info", handle: true},
	KindRequest:           {name: "request", ctype: "MPI_Request", handle: true},
	KindMessage:           {name: "message", ctype: "MPI_Message", handle: true},
	KindErrhandler:        {name: "errhandler", ctype: "MPI_Errhandler", handle: true},
	KindSession:           {name: "session", ctype: "MPI_Session", handle: true},
	KindKeyval:            {name: "keyval", ctype: "int", handle: true},
	KindStatus:            {name: "status", ctype: "MPI_Status"},
	KindFStatus:           {name: "f-status", ctype: "MPI_Fint"},
	KindF08Status:         {name: "f08-status", ctype: "MPI_F08_status"},
	KindCvarHandle:        {name: "cvar-handle", ctype: "MPI_T_cvar_handle", handle: true},
	KindPvarHandle:        {name: "pvar-handle", ctype: "MPI_T_pvar_handle", handle: true},
	KindPvarSession:       {name: "pvar-session", ctype: "MPI_T_pvar_session", handle: true},
	KindEnum:              {name: "enum", ctype: "MPI_T_enum", handle: true},
	KindEventRegistration: {name: "event-registration", ctype: "MPI_T_event_registration", handle: true},
	KindEventInstance:     {name: "event-instance", ctype: "MPI_T_event_instance", handle: true},
	KindVerbosity:         {name: "verbosity", ctype: "int"},
	KindBind:              {name: "bind", ctype: "int"},
	KindScope:             {name: "scope", ctype: "int"},
	KindPvarClass:         {name: "pvar-class", ctype: "int"},
	KindCallbackSafety:    {name: "callback-safety", ctype: "MPI_T_cb_safety"},
	KindSourceOrder:       {name: "source-order", ctype: "MPI_T_source_order"},
}

// String returns the name that functions.txt uses.
func (k Kind) String() string {
	if k >= numKinds {
		return "invalid"
	}
	return kinds[k].name
}

// IsHandle reports whether values of the kind are opaque handles, which get symbolic ids.
func (k Kind) IsHandle() bool { return k < numKinds && kinds[k].handle }

// IsBits reports whether values of the kind are constants or-ed together.
func (k Kind) IsBits() bool { return k == KindAssertion || k == KindAccessMode }

// CType returns the C type of a value of the kind in a function without large counts. It is "" for
// a callback, since callbacks have different types.
func (k Kind) CType() string { return kinds[k].ctype }

// LargeCType returns the C type in a large-count function.
func (k Kind) LargeCType() string {
	if l := kinds[k].large; l != "" {
		return l
	}
	return kinds[k].ctype
}

// Kinds returns all kinds that a parameter can have.
func Kinds() []Kind {
	ks := make([]Kind, 0, numKinds-1)
	for k := KindNone + 1; k < numKinds; k++ {
		ks = append(ks, k)
	}
	return ks
}

// KindByName returns the kind with the given name.
func KindByName(name string) (Kind, bool) {
	for k := range kinds {
		if kinds[k].name == name && Kind(k) != KindNone {
			return Kind(k), true
		}
	}
	return KindNone, false
}
