//go:build otf2

package library

// #include <otf2/otf2.h>
// #include <stdlib.h>
//
// static OTF2_ErrorCode process_property(OTF2_GlobalDefWriter* w, uint32_t group, uint32_t name,
//                                        uint32_t value) {
//   OTF2_AttributeValue v = { .stringRef = value };
//   return OTF2_GlobalDefWriter_WriteLocationGroupProperty(w, group, name, OTF2_TYPE_STRING, v);
// }
import "C"

import (
	"fmt"
	"unsafe"

	"github.com/cairn-mpi/cairn/analyzer/export/otf2"
)

// global writes global definitions and keeps the first error.
type global struct {
	archive *C.OTF2_Archive
	writer  *C.OTF2_GlobalDefWriter
	err     error
}

func (g *global) check(code C.OTF2_ErrorCode, what string) {
	if g.err == nil && code != C.OTF2_SUCCESS {
		g.err = check(code, "define "+what)
	}
}

// globalDefinitions writes the definitions that events refer to.
func (a *Archive) globalDefinitions(d *otf2.Definitions) error {
	g := &global{archive: a.archive, writer: C.OTF2_Archive_GetGlobalDefWriter(a.archive)}
	if g.writer == nil {
		return fmt.Errorf("OTF2 cannot write global definitions")
	}
	g.properties(d)
	g.check(C.OTF2_GlobalDefWriter_WriteClockProperties(g.writer, 1e9, C.uint64_t(d.FirstNS), C.uint64_t(d.LengthNS-d.FirstNS), C.uint64_t(d.StartNS)), "the clock")
	for i, s := range d.Strings {
		text := C.CString(s)
		g.check(C.OTF2_GlobalDefWriter_WriteString(g.writer, C.OTF2_StringRef(i), text), "a string")
		C.free(unsafe.Pointer(text))
	}
	g.check(C.OTF2_GlobalDefWriter_WriteAttribute(g.writer, 0, C.OTF2_StringRef(d.SiteName), C.OTF2_StringRef(d.SiteAbout), C.OTF2_TYPE_STRING), "an attribute")
	g.check(C.OTF2_GlobalDefWriter_WriteParadigm(g.writer, C.OTF2_PARADIGM_MPI, C.OTF2_StringRef(d.MPIName), C.OTF2_PARADIGM_CLASS_PROCESS), "a paradigm")
	g.places(d)
	g.regions(d)
	g.groups(d)
	g.communicators(d)
	g.objects(d)
	g.topologies(d)
	g.check(C.OTF2_Archive_CloseGlobalDefWriter(a.archive, g.writer), "everything")
	return g.err
}

// properties writes the properties of the archive.
func (g *global) properties(d *otf2.Definitions) {
	text := func(s string, use func(*C.char) C.OTF2_ErrorCode) {
		c := C.CString(s)
		defer C.free(unsafe.Pointer(c))
		g.check(use(c), "a property of the archive")
	}
	text(d.Creator, func(s *C.char) C.OTF2_ErrorCode { return C.OTF2_Archive_SetCreator(g.archive, s) })
	text(d.Machine, func(s *C.char) C.OTF2_ErrorCode { return C.OTF2_Archive_SetMachineName(g.archive, s) })
	text(d.Description, func(s *C.char) C.OTF2_ErrorCode { return C.OTF2_Archive_SetDescription(g.archive, s) })
	for _, p := range d.Properties {
		text(p.Name, func(name *C.char) (code C.OTF2_ErrorCode) {
			value := C.CString(p.Value)
			defer C.free(unsafe.Pointer(value))
			return C.OTF2_Archive_SetProperty(g.archive, name, value, true)
		})
	}
}

// places writes nodes, processes and threads.
func (g *global) places(d *otf2.Definitions) {
	for i, n := range d.Nodes {
		g.check(C.OTF2_GlobalDefWriter_WriteSystemTreeNode(g.writer, C.OTF2_SystemTreeNodeRef(i), C.OTF2_StringRef(n.Name), C.OTF2_StringRef(n.Class), C.OTF2_SystemTreeNodeRef(n.Parent)), "a node")
		domain := C.OTF2_SystemTreeDomain(C.OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY)
		if n.Machine {
			domain = C.OTF2_SYSTEM_TREE_DOMAIN_MACHINE
		}
		g.check(C.OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(g.writer, C.OTF2_SystemTreeNodeRef(i), domain), "a node's domain")
	}
	for i, p := range d.Processes {
		g.check(C.OTF2_GlobalDefWriter_WriteLocationGroup(g.writer, C.OTF2_LocationGroupRef(i), C.OTF2_StringRef(p.Name), C.OTF2_LOCATION_GROUP_TYPE_PROCESS, C.OTF2_SystemTreeNodeRef(p.Node), C.OTF2_UNDEFINED_LOCATION_GROUP), "a process")
		for _, s := range p.Properties {
			g.check(C.process_property(g.writer, C.uint32_t(i), C.uint32_t(s.Name), C.uint32_t(s.Value)), "a process's property")
		}
	}
	for _, l := range d.Locations {
		g.check(C.OTF2_GlobalDefWriter_WriteLocation(g.writer, C.OTF2_LocationRef(l.ID), C.OTF2_StringRef(l.Name), C.OTF2_LOCATION_TYPE_CPU_THREAD, C.uint64_t(l.Events), C.OTF2_LocationGroupRef(l.Process)), "a thread")
	}
}

func (g *global) regions(d *otf2.Definitions) {
	for i, r := range d.Regions {
		g.check(C.OTF2_GlobalDefWriter_WriteRegion(g.writer, C.OTF2_RegionRef(i), C.OTF2_StringRef(r.Name), C.OTF2_StringRef(r.Name), C.OTF2_UNDEFINED_STRING,
			C.OTF2_RegionRole(r.Role), C.OTF2_Paradigm(r.Paradigm), C.OTF2_REGION_FLAG_NONE, C.OTF2_StringRef(r.File), C.uint32_t(r.Line), C.uint32_t(r.Line)), "a region")
	}
}

func (g *global) groups(d *otf2.Definitions) {
	for i, one := range d.Groups {
		var members *C.uint64_t
		if len(one.Members) > 0 {
			members = (*C.uint64_t)(unsafe.Pointer(&one.Members[0]))
		}
		g.check(C.OTF2_GlobalDefWriter_WriteGroup(g.writer, C.OTF2_GroupRef(i), C.OTF2_StringRef(one.Name), C.OTF2_GroupType(one.Type), C.OTF2_PARADIGM_MPI,
			C.OTF2_GROUP_FLAG_NONE, C.uint32_t(len(one.Members)), members), "a group")
	}
}

func (g *global) communicators(d *otf2.Definitions) {
	for i, c := range d.Comms {
		if c.Remote != otf2.Undefined {
			g.check(C.OTF2_GlobalDefWriter_WriteInterComm(g.writer, C.OTF2_CommRef(i), C.OTF2_StringRef(c.Name), C.OTF2_GroupRef(c.Group),
				C.OTF2_GroupRef(c.Remote), C.OTF2_CommRef(c.Parent), C.OTF2_COMM_FLAG_NONE), "an intercommunicator")
			continue
		}
		g.check(C.OTF2_GlobalDefWriter_WriteComm(g.writer, C.OTF2_CommRef(i), C.OTF2_StringRef(c.Name), C.OTF2_GroupRef(c.Group),
			C.OTF2_CommRef(c.Parent), C.OTF2_COMM_FLAG_NONE), "a communicator")
	}
}

// objects writes windows and files.
func (g *global) objects(d *otf2.Definitions) {
	for i, w := range d.Windows {
		flags := C.OTF2_RmaWinFlag(C.OTF2_RMA_WIN_FLAG_CREATE_DESTROY_EVENTS)
		if w.Before {
			flags = C.OTF2_RMA_WIN_FLAG_NONE
		}
		g.check(C.OTF2_GlobalDefWriter_WriteRmaWin(g.writer, C.OTF2_RmaWinRef(i), C.OTF2_StringRef(w.Name), C.OTF2_CommRef(w.Comm), flags), "a window")
	}
	if len(d.Handles) == 0 {
		return
	}
	g.check(C.OTF2_GlobalDefWriter_WriteIoParadigm(g.writer, 0, C.OTF2_StringRef(d.IOID), C.OTF2_StringRef(d.IOName), C.OTF2_IO_PARADIGM_CLASS_PARALLEL,
		C.OTF2_IO_PARADIGM_FLAG_NONE, 0, nil, nil, nil), "MPI-IO")
	for i, name := range d.Files {
		g.check(C.OTF2_GlobalDefWriter_WriteIoRegularFile(g.writer, C.OTF2_IoFileRef(i), C.OTF2_StringRef(name), C.OTF2_UNDEFINED_SYSTEM_TREE_NODE), "a file")
	}
	for i, h := range d.Handles {
		flags := C.OTF2_IoHandleFlag(C.OTF2_IO_HANDLE_FLAG_NONE)
		if h.Before {
			flags = C.OTF2_IO_HANDLE_FLAG_PRE_CREATED
		}
		g.check(C.OTF2_GlobalDefWriter_WriteIoHandle(g.writer, C.OTF2_IoHandleRef(i), C.OTF2_StringRef(h.Name), C.OTF2_IoFileRef(h.File), 0,
			flags, C.OTF2_CommRef(h.Comm), C.OTF2_UNDEFINED_IO_HANDLE), "an open file")
		if h.Before {
			g.check(C.OTF2_GlobalDefWriter_WriteIoPreCreatedHandleState(g.writer, C.OTF2_IoHandleRef(i), C.OTF2_IoAccessMode(h.Mode), C.OTF2_IoStatusFlag(h.Status)), "how a file is open")
		}
	}
}

func (g *global) topologies(d *otf2.Definitions) {
	next := C.OTF2_CartDimensionRef(0)
	for i, t := range d.Topologies {
		dims := make([]C.OTF2_CartDimensionRef, len(t.Dims))
		for k, one := range t.Dims {
			periodic := C.OTF2_CartPeriodicity(C.OTF2_CART_PERIODIC_FALSE)
			if one.Periodic {
				periodic = C.OTF2_CART_PERIODIC_TRUE
			}
			dims[k] = next
			g.check(C.OTF2_GlobalDefWriter_WriteCartDimension(g.writer, next, C.OTF2_StringRef(one.Name), C.uint32_t(one.Size), periodic), "a dimension")
			next++
		}
		g.check(C.OTF2_GlobalDefWriter_WriteCartTopology(g.writer, C.OTF2_CartTopologyRef(i), C.OTF2_StringRef(t.Name), C.OTF2_CommRef(t.Comm), C.uint8_t(len(dims)), &dims[0]), "a grid")
		for rank, at := range t.Coordinates {
			g.check(C.OTF2_GlobalDefWriter_WriteCartCoordinate(g.writer, C.OTF2_CartTopologyRef(i), C.uint32_t(rank), C.uint8_t(len(at)), (*C.uint32_t)(unsafe.Pointer(&at[0]))), "a rank's place in a grid")
		}
	}
}
