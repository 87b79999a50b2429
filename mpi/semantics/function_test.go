package semantics

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/mpi"
)

func of(t *testing.T, name string) *Function {
	t.Helper()
	f := mpi.ByName(name)
	require.NotNil(t, f, name)
	return Of(f)
}

// Every function of the standard has an operation, and its large-count form means the same.
func TestTheWholeStandardIsUnderstood(t *testing.T) {
	for i := range mpi.Functions {
		f := &mpi.Functions[i]
		if f.ID == 0 {
			continue
		}
		means := Of(f)
		assert.NotEqual(t, Unknown, means.Operation, "%s (%s)", f.Name, f.Class)
		assert.Len(t, means.Roles, len(f.Params), f.Name)
		assert.Equal(t, f.Class.IsCollective(), means.Collective, f.Name)
		switch means.Operation {
		case CommunicatorCreate:
			assert.NotEqual(t, NoCreation, means.Creation, f.Name)
		case RemoteAccess, FileAccess:
			assert.NotEqual(t, NoAccess, means.Access, f.Name)
		case WindowSynchronize:
			assert.NotEqual(t, NoSynchronization, means.Synchronization, f.Name)
		}
		if f.Large != 0 {
			large := Of(mpi.ByID(f.Large))
			// more results
			if f.Name != "MPI_Type_get_contents" && f.Name != "MPI_Type_get_envelope" {
				assert.Equal(t, means, large, f.Name)
			}
		}
	}
}

// The operations of functions, as the standard describes them (MPI 4.0).
func TestOperations(t *testing.T) {
	type meaning struct {
		operation  Operation
		completion Completion
		polls      bool
		collective bool
	}
	for name, want := range map[string]meaning{
		"MPI_Send":                   {operation: Send},
		"MPI_Isend":                  {operation: Send, completion: Nonblocking},
		"MPI_Send_init":              {operation: Send, completion: Persistent},
		"MPI_Psend_init":             {operation: Send, completion: Partitioned},
		"MPI_Precv_init":             {operation: Receive, completion: Partitioned},
		"MPI_Sendrecv_replace":       {operation: SendReceive},
		"MPI_Isendrecv":              {operation: SendReceive, completion: Nonblocking},
		"MPI_Mrecv":                  {operation: MatchedReceive},
		"MPI_Imrecv":                 {operation: MatchedReceive, completion: Nonblocking},
		"MPI_Iprobe":                 {operation: Probe, polls: true},
		"MPI_Improbe":                {operation: MatchedProbe, polls: true},
		"MPI_Mprobe":                 {operation: MatchedProbe},
		"MPI_Startall":               {operation: Start},
		"MPI_Wait":                   {operation: Wait},
		"MPI_Test":                   {operation: Wait, polls: true},
		"MPI_Testsome":               {operation: WaitSome, polls: true},
		"MPI_Waitsome":               {operation: WaitSome},
		"MPI_Request_get_status":     {operation: RequestStatus, polls: true},
		"MPI_Parrived":               {operation: PartitionArrived, polls: true},
		"MPI_Test_cancelled":         {operation: StatusAccess},
		"MPI_Buffer_iflush":          {operation: SendBuffers, completion: Nonblocking},
		"MPI_Barrier":                {operation: Barrier, collective: true},
		"MPI_Allreduce":              {operation: AllToAll, collective: true},
		"MPI_Iallreduce":             {operation: AllToAll, completion: Nonblocking, collective: true},
		"MPI_Bcast_init":             {operation: OneToAll, completion: Persistent, collective: true},
		"MPI_Gatherv":                {operation: AllToOne, collective: true},
		"MPI_Exscan":                 {operation: Prefix, collective: true},
		"MPI_Neighbor_alltoallw":     {operation: Neighbor, collective: true},
		"MPI_Comm_idup":              {operation: CommunicatorCreate, completion: Nonblocking, collective: true},
		"MPI_Comm_join":              {operation: CommunicatorCreate},
		"MPI_Put":                    {operation: RemoteAccess},
		"MPI_Rput":                   {operation: RemoteAccess, completion: Nonblocking},
		"MPI_Win_fence":              {operation: WindowSynchronize, collective: true},
		"MPI_Win_test":               {operation: WindowSynchronize, polls: true},
		"MPI_Win_wait":               {operation: WindowSynchronize},
		"MPI_File_read_all_begin":    {operation: FileAccess, completion: SplitBegin, collective: true},
		"MPI_File_read_all_end":      {operation: FileAccess, completion: SplitEnd, collective: true},
		"MPI_File_iwrite_shared":     {operation: FileAccess, completion: Nonblocking},
		"MPI_File_set_size":          {operation: FileChange, collective: true},
		"MPI_Comm_set_name":          {operation: SetName},
		"MPI_Comm_set_info":          {operation: SetInfo, collective: true},
		"MPI_Init_thread":            {operation: Initialize},
		"MPI_Wtime":                  {operation: Time},
		"MPI_Comm_rank":              {operation: Query},
		"MPI_T_pvar_read":            {operation: ToolRead},
		"MPI_T_pvar_get_num":         {operation: Tool},
		"MPI_Type_create_resized":    {operation: DatatypeCreate},
		"MPI_Reduce_local":           {operation: ReduceLocal},
		"MPI_Intercomm_merge":        {operation: CommunicatorCreate, collective: true},
		"MPI_Comm_disconnect":        {operation: CommunicatorFree, collective: true},
		"MPI_Win_create":             {operation: WindowCreate, collective: true},
		"MPI_Request_free":           {operation: RequestFree},
		"MPI_Pready_range":           {operation: PartitionReady},
		"MPI_Group_union":            {operation: GroupCreate},
		"MPI_Session_init":           {operation: SessionCreate},
		"MPI_Pcontrol":               {operation: Control},
		"MPI_Comm_get_parent":        {operation: Query},
		"MPI_Intercomm_create":       {operation: CommunicatorCreate, collective: true},
		"MPI_Comm_create_group":      {operation: CommunicatorCreate, collective: true},
		"MPI_Grequest_start":         {operation: GeneralizedRequest},
		"MPI_Dist_graph_create":      {operation: CommunicatorCreate, collective: true},
		"MPI_Type_create_f90_real":   {operation: DatatypeCreate},
		"MPI_File_get_group":         {operation: GroupCreate},
		"MPI_Win_unlock_all":         {operation: WindowSynchronize},
		"MPI_Comm_spawn_multiple":    {operation: CommunicatorCreate, collective: true},
		"MPI_Comm_create_from_group": {operation: CommunicatorCreate, collective: true},
	} {
		f := of(t, name)
		assert.Equal(t, want, meaning{f.Operation, f.Completion, f.Polls, f.Collective}, name)
	}
}

// Details of single operations.
func TestDetails(t *testing.T) {
	for name, want := range map[string]Mode{
		"MPI_Isend": Standard, "MPI_Bsend_init": Buffered, "MPI_Issend": Synchronous, "MPI_Rsend": Ready, "MPI_Psend_init": Standard,
	} {
		assert.Equal(t, want, of(t, name).Mode, name)
	}
	for name, want := range map[string]Creation{
		"MPI_Comm_split": FromParent, "MPI_Cart_create": FromParent, "MPI_Intercomm_merge": FromMerge, "MPI_Comm_create_group": FromMembers,
		"MPI_Comm_create_from_group": FromGroup, "MPI_Intercomm_create": Intercommunicator, "MPI_Intercomm_create_from_groups": Intercommunicator,
		"MPI_Comm_connect": FromConnect, "MPI_Comm_accept": FromAccept, "MPI_Comm_spawn": FromSpawn, "MPI_Comm_get_parent": WithParent,
		"MPI_Comm_join": FromJoin, "MPI_Comm_size": NoCreation, "MPI_Send": NoCreation,
	} {
		assert.Equal(t, want, of(t, name).Creation, name)
	}
	for name, want := range map[string]Synchronization{
		"MPI_Win_lock_all": SyncLock, "MPI_Win_unlock": SyncUnlock, "MPI_Win_flush_local_all": SyncFlushLocal, "MPI_Win_flush": SyncFlush, "MPI_Win_test": SyncTest,
		"MPI_Win_sync": SyncMemory, "MPI_Win_post": SyncPost,
	} {
		assert.Equal(t, want, of(t, name).Synchronization, name)
	}
	for name, want := range map[string]Access{
		"MPI_Raccumulate": Accumulate, "MPI_Get_accumulate": GetAccumulate, "MPI_Fetch_and_op": FetchAndOp,
		"MPI_File_read_ordered_end": ReadFile, "MPI_File_iwrite_at_all": WriteFile,
	} {
		assert.Equal(t, want, of(t, name).Access, name)
	}
	assert.Equal(t, GroupExcludeRanges, of(t, "MPI_Group_range_excl").Group)
	for name, want := range map[string]DatatypeConstructor{
		"MPI_Type_hvector": HVector, "MPI_Type_create_hvector": HVector, "MPI_Type_create_hvector_c": HVector, "MPI_Type_struct": Structure,
		"MPI_Type_create_darray": DistributedArray, "MPI_Type_create_f90_integer": F90Integer,
	} {
		assert.Equal(t, want, of(t, name).Datatype, name)
	}
}

// Where calls have their arguments, counted by hand in the parameter lists of the standard.
func TestRoles(t *testing.T) {
	for name, want := range map[string]struct{ in, out map[Role]int8 }{
		"MPI_Isend": {
			map[Role]int8{Buffer: 0, Count: 1, Datatype: 2, Destination: 3, Tag: 4, Communicator: 5},
			map[Role]int8{Request: 0},
		},
		"MPI_Recv": { // the buffer is a result
			map[Role]int8{Count: 0, Datatype: 1, Source: 2, Tag: 3, Communicator: 4},
			map[Role]int8{Buffer: 0, Status: 1},
		},
		"MPI_Sendrecv": {
			map[Role]int8{Buffer: 0, Count: 1, Datatype: 2, Destination: 3, Tag: 4, ReceiveCount: 5, ReceiveDatatype: 6, Source: 7, ReceiveTag: 8, Communicator: 9},
			map[Role]int8{Buffer: 0, Status: 1},
		},
		"MPI_Psend_init": {
			map[Role]int8{Buffer: 0, Partitions: 1, Count: 2, Datatype: 3, Destination: 4, Tag: 5, Communicator: 6},
			map[Role]int8{Request: 0},
		},
		"MPI_Pready_range": {map[Role]int8{Partition: 0, LastPartition: 1, Request: 2}, nil},
		"MPI_Pready_list":  {map[Role]int8{Partition: 1, Request: 2}, nil},
		"MPI_Waitall": {
			map[Role]int8{RequestCount: 0, Request: 1},
			map[Role]int8{Request: 0, Status: 1},
		},
		"MPI_Testsome": {
			map[Role]int8{RequestCount: 0, Request: 1},
			map[Role]int8{Request: 0, OutCount: 1, Index: 2, Status: 3},
		},
		"MPI_Testany": {
			map[Role]int8{RequestCount: 0, Request: 1},
			map[Role]int8{Request: 0, Index: 1, Flag: 2, Status: 3},
		},
		"MPI_Scatterv": {
			map[Role]int8{Buffer: 0, Count: 1, Displacements: 2, Datatype: 3, ReceiveCount: 4, ReceiveDatatype: 5, Root: 6, Communicator: 7},
			map[Role]int8{Buffer: 0},
		},
		"MPI_Put": {
			map[Role]int8{Buffer: 0, Count: 1, Datatype: 2, Target: 3, TargetDisplacement: 4, TargetCount: 5, TargetDatatype: 6, Window: 7},
			nil,
		},
		"MPI_Win_lock":   {map[Role]int8{LockType: 0, Target: 1, Window: 3}, nil},
		"MPI_Win_free":   {map[Role]int8{Window: 0}, map[Role]int8{Window: 0}},
		"MPI_Comm_split": {map[Role]int8{Communicator: 0, Color: 1, Key: 2}, map[Role]int8{Communicator: 0}},
		"MPI_Intercomm_create": { // of two communicators the local one
			map[Role]int8{Communicator: 0, Tag: 4}, map[Role]int8{Communicator: 0},
		},
		"MPI_Group_union":   {map[Role]int8{Group: 0, SecondGroup: 1}, map[Role]int8{Group: 0}},
		"MPI_Comm_set_name": {map[Role]int8{Communicator: 0, Name: 1}, nil},
		"MPI_Comm_connect":  {map[Role]int8{PortName: 0, Root: 2, Communicator: 3}, map[Role]int8{Communicator: 0}},
		"MPI_Pcontrol":      {map[Role]int8{Level: 0}, nil},
		"MPI_Graph_create":  {map[Role]int8{Communicator: 0, GraphIndex: 2, GraphEdges: 3}, map[Role]int8{Communicator: 0}},
		"MPI_Dist_graph_create": {
			map[Role]int8{Communicator: 0, GraphSources: 2, GraphDegrees: 3, GraphDestinations: 4},
			map[Role]int8{Communicator: 0},
		},
		"MPI_Mrecv": {
			map[Role]int8{Count: 0, Datatype: 1, Message: 2}, map[Role]int8{Buffer: 0, Message: 1, Status: 2},
		},
		"MPI_Type_vector": {
			map[Role]int8{Count: 0, BlockLength: 1, Stride: 2, OldDatatype: 3}, map[Role]int8{Datatype: 0},
		},
		"MPI_Type_create_darray": {
			map[Role]int8{GridRank: 1, Dimensions: 2, Sizes: 3, Distributions: 4, DistributionArguments: 5, Grid: 6, Order: 7, OldDatatype: 8},
			map[Role]int8{Datatype: 0},
		},
		"MPI_File_write_at": {
			map[Role]int8{File: 0, Offset: 1, Buffer: 2, Count: 3, Datatype: 4}, map[Role]int8{Status: 0},
		},
		"MPI_File_open": {map[Role]int8{Communicator: 0, FileName: 1, AccessMode: 2}, map[Role]int8{File: 0}},
		"MPI_File_seek": {map[Role]int8{File: 0, Offset: 1, Whence: 2}, nil},
	} {
		f := of(t, name)
		for role := NoRole + 1; role < numRoles; role++ {
			for side, positions := range map[string]struct {
				want map[Role]int8
				got  Positions
			}{"in": {want.in, f.In}, "out": {want.out, f.Out}} {
				at, there := positions.want[role]
				if !there {
					at = -1
				}
				assert.Equal(t, at, positions.got[role], "%s: role %d, %s", name, role, side)
			}
		}
	}
}

// A trace of a newer tracer has words and parameters that are not known here. The known ones are
// interpreted nevertheless.
func TestNewerTracer(t *testing.T) {
	f := New(&Declaration{Name: "MPI_Xsend", Class: "send telepathic nonblocking synchronous", Parameters: []Parameter{
		{Name: "thought", Kind: "idea", In: true},
		{Name: "dest", Kind: "rank", In: true},
		{Name: "request", Kind: "request", Out: true},
	}})
	assert.Equal(t, Send, f.Operation)
	assert.Equal(t, Nonblocking, f.Completion)
	assert.Equal(t, Synchronous, f.Mode)
	assert.Equal(t, []Role{NoRole, Destination, Request}, f.Roles)
	assert.EqualValues(t, 1, f.In[Destination])
	assert.EqualValues(t, 0, f.Out[Request])

	for _, class := range []string{"", " ", "teleport blocking"} {
		f := New(&Declaration{Name: "MPI_Teleport", Class: class})
		assert.Equal(t, Unknown, f.Operation)
		assert.False(t, f.Polls || f.Collective || f.IsLocalQuery() || f.MovesData())
	}

	// A function that tests, but does not declare how it returns the result, is not a poll.
	assert.False(t, New(&Declaration{Name: "MPI_Test", Class: "test"}).Polls)

	many := Declaration{Name: "MPI_Many", Class: "send blocking standard"}
	for range 1000 {
		many.Parameters = append(many.Parameters, Parameter{Name: "x", Kind: "int", In: true})
	}
	many.Parameters = append(many.Parameters, Parameter{Name: "dest", Kind: "rank", In: true})
	assert.EqualValues(t, -1, New(&many).In[Destination])
}

// Counts that are those of each process, by the standard (MPI 4.0 §6): how much is sent to each,
// and how much comes from each.
func TestCountsOfEachProcess(t *testing.T) {
	for name, expected := range map[string][2]bool{
		"MPI_Alltoall": {true, true}, "MPI_Ialltoall": {true, true}, "MPI_Alltoall_init": {true, true}, "MPI_Alltoall_c": {true, true},
		"MPI_Alltoall_init_c": {true, true}, "MPI_Alltoallv": {false, false}, "MPI_Ialltoallw": {false, false},
		"MPI_Scatter": {true, false}, "MPI_Iscatter": {true, false}, "MPI_Scatterv": {false, false},
		"MPI_Gather": {false, true}, "MPI_Gatherv": {false, false}, "MPI_Allgather": {false, true}, "MPI_Allgatherv_c": {false, false},
		"MPI_Reduce_scatter": {false, false}, "MPI_Reduce_scatter_block": {false, true}, "MPI_Ireduce_scatter_block_c": {false, true},
		"MPI_Allreduce": {false, false}, "MPI_Bcast": {false, false}, "MPI_Neighbor_alltoall": {false, false}, "MPI_Send": {false, false},
	} {
		f := of(t, name)
		assert.Equal(t, expected, [2]bool{f.PerPeer, f.ReceivePerPeer}, name)
	}
}

// Each collective with data has a movement, and nothing else has one.
func TestMovements(t *testing.T) {
	for name, expected := range map[string]Movement{
		"MPI_Bcast": Broadcast, "MPI_Ibcast_c": Broadcast, "MPI_Neighbor_alltoallw_init": AllToAllExchange,
		"MPI_Ineighbor_allgatherv": AllGather, "MPI_Iallreduce": AllReduce, "MPI_Exscan_init_c": Scan,
		"MPI_Ireduce_scatter": ReduceScatter, "MPI_Barrier": NoMovement, "MPI_Reduce_local": NoMovement,
	} {
		assert.Equal(t, expected, of(t, name).Movement, name)
	}
	for i := range mpi.Functions {
		f := &mpi.Functions[i]
		if f.ID == 0 {
			continue
		}
		switch means := Of(f); means.Operation {
		case OneToAll, AllToOne, AllToAll, Prefix, Neighbor:
			assert.NotEqual(t, NoMovement, means.Movement, f.Name)
		default:
			assert.Equal(t, NoMovement, means.Movement, f.Name)
		}
	}
}

// Local calls neither communicate nor wait, whatever their group. Those that start or test
// something, that wait for the messages of a buffer, or that all processes make are not local.
func TestLocalCalls(t *testing.T) {
	for name, local := range map[string]bool{
		"MPI_Dims_create": true, "MPI_Type_commit": true, "MPI_Type_indexed_c": true, "MPI_Info_set": true, "MPI_Group_incl": true, "MPI_Comm_rank": true,
		"MPI_Wtime": true, "MPI_Pack": true, "MPI_Reduce_local": true, "MPI_Buffer_attach": true, "MPI_Comm_set_name": true, "MPI_Request_free": true,
		"MPI_T_pvar_read": true, "MPI_Win_attach": true, "MPI_Comm_get_parent": true,
		"MPI_Buffer_detach": false, "MPI_Comm_set_info": false, "MPI_Comm_dup": false, "MPI_Isend": false, "MPI_Test": false, "MPI_Iprobe": false,
		"MPI_Win_create": false, "MPI_Put": false, "MPI_Init": false, "MPI_T_finalize": false, "MPI_File_seek": false, "MPI_Abort": false, "MPI_Start": false,
	} {
		f := of(t, name)
		assert.Equal(t, local, f.IsLocal(), name)
		assert.False(t, f.IsLocal() && f.IsAboutMessages(), name)
	}
}
