// SPDX-License-Identifier: Apache-2.0
// Every MPI function that the examples call, wrapped in a macro that counts the call: what a tracer must have seen
// is then known from the program itself. `make -C examples check` fails when a program calls a function that is
// missing here.
//
// A macro's own name is not expanded again inside its expansion, so MPI_Send(...) below calls the real MPI_Send.
#ifndef COUNTED_H
#define COUNTED_H

#include <mpi.h>
#include <stdatomic.h>

// GCC takes MPICH's MPI_STATUSES_IGNORE for an array that is too short.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

#define COUNTED(name, ...) (atomic_fetch_add(&calls[called_##name], 1), name(__VA_ARGS__))

// COUNTED_FUNCTIONS(X) is X(name) for each function.
#define COUNTED_FUNCTIONS(X) \
    X(MPI_Abort) \
    X(MPI_Accumulate) \
    X(MPI_Allgather) \
    X(MPI_Allgatherv) \
    X(MPI_Alloc_mem) \
    X(MPI_Allreduce) \
    X(MPI_Allreduce_init) \
    X(MPI_Alltoall) \
    X(MPI_Alltoallv) \
    X(MPI_Alltoallw) \
    X(MPI_Barrier) \
    X(MPI_Bcast) \
    X(MPI_Bsend) \
    X(MPI_Bsend_init) \
    X(MPI_Buffer_attach) \
    X(MPI_Buffer_detach) \
    X(MPI_Cancel) \
    X(MPI_Cart_coords) \
    X(MPI_Cart_create) \
    X(MPI_Cart_get) \
    X(MPI_Cart_map) \
    X(MPI_Cart_rank) \
    X(MPI_Cart_shift) \
    X(MPI_Cart_sub) \
    X(MPI_Cartdim_get) \
    X(MPI_Comm_call_errhandler) \
    X(MPI_Comm_compare) \
    X(MPI_Comm_create) \
    X(MPI_Comm_create_errhandler) \
    X(MPI_Comm_create_group) \
    X(MPI_Comm_create_keyval) \
    X(MPI_Comm_delete_attr) \
    X(MPI_Comm_dup) \
    X(MPI_Comm_dup_with_info) \
    X(MPI_Comm_free) \
    X(MPI_Comm_free_keyval) \
    X(MPI_Comm_get_attr) \
    X(MPI_Comm_get_errhandler) \
    X(MPI_Comm_get_info) \
    X(MPI_Comm_get_name) \
    X(MPI_Comm_group) \
    X(MPI_Comm_idup) \
    X(MPI_Comm_rank) \
    X(MPI_Comm_remote_group) \
    X(MPI_Comm_remote_size) \
    X(MPI_Comm_set_attr) \
    X(MPI_Comm_set_errhandler) \
    X(MPI_Comm_set_info) \
    X(MPI_Comm_set_name) \
    X(MPI_Comm_size) \
    X(MPI_Comm_split) \
    X(MPI_Comm_split_type) \
    X(MPI_Comm_test_inter) \
    X(MPI_Compare_and_swap) \
    X(MPI_Dims_create) \
    X(MPI_Dist_graph_create) \
    X(MPI_Dist_graph_create_adjacent) \
    X(MPI_Dist_graph_neighbors) \
    X(MPI_Dist_graph_neighbors_count) \
    X(MPI_Errhandler_free) \
    X(MPI_Error_class) \
    X(MPI_Error_string) \
    X(MPI_Exscan) \
    X(MPI_Fetch_and_op) \
    X(MPI_File_close) \
    X(MPI_File_delete) \
    X(MPI_File_get_amode) \
    X(MPI_File_get_group) \
    X(MPI_File_get_position) \
    X(MPI_File_get_size) \
    X(MPI_File_get_view) \
    X(MPI_File_iread_at) \
    X(MPI_File_iwrite_at) \
    X(MPI_File_open) \
    X(MPI_File_read) \
    X(MPI_File_read_all) \
    X(MPI_File_read_at) \
    X(MPI_File_read_at_all) \
    X(MPI_File_read_ordered) \
    X(MPI_File_read_shared) \
    X(MPI_File_seek) \
    X(MPI_File_set_errhandler) \
    X(MPI_File_set_size) \
    X(MPI_File_set_view) \
    X(MPI_File_sync) \
    X(MPI_File_write) \
    X(MPI_File_write_all) \
    X(MPI_File_write_at) \
    X(MPI_File_write_at_all) \
    X(MPI_File_write_ordered) \
    X(MPI_File_write_shared) \
    X(MPI_Finalize) \
    X(MPI_Finalized) \
    X(MPI_Free_mem) \
    X(MPI_Gather) \
    X(MPI_Gatherv) \
    X(MPI_Get) \
    X(MPI_Get_accumulate) \
    X(MPI_Get_address) \
    X(MPI_Get_count) \
    X(MPI_Get_elements) \
    X(MPI_Get_library_version) \
    X(MPI_Get_processor_name) \
    X(MPI_Get_version) \
    X(MPI_Graph_create) \
    X(MPI_Graph_get) \
    X(MPI_Graph_neighbors) \
    X(MPI_Graph_neighbors_count) \
    X(MPI_Graphdims_get) \
    X(MPI_Group_compare) \
    X(MPI_Group_difference) \
    X(MPI_Group_excl) \
    X(MPI_Group_free) \
    X(MPI_Group_incl) \
    X(MPI_Group_intersection) \
    X(MPI_Group_range_incl) \
    X(MPI_Group_rank) \
    X(MPI_Group_size) \
    X(MPI_Group_translate_ranks) \
    X(MPI_Group_union) \
    X(MPI_Iallgather) \
    X(MPI_Iallgatherv) \
    X(MPI_Iallreduce) \
    X(MPI_Ialltoall) \
    X(MPI_Ialltoallv) \
    X(MPI_Ialltoallw) \
    X(MPI_Ibarrier) \
    X(MPI_Ibcast) \
    X(MPI_Ibsend) \
    X(MPI_Iexscan) \
    X(MPI_Igather) \
    X(MPI_Igatherv) \
    X(MPI_Improbe) \
    X(MPI_Imrecv) \
    X(MPI_Ineighbor_allgather) \
    X(MPI_Ineighbor_allgatherv) \
    X(MPI_Ineighbor_alltoall) \
    X(MPI_Ineighbor_alltoallv) \
    X(MPI_Ineighbor_alltoallw) \
    X(MPI_Info_create) \
    X(MPI_Info_delete) \
    X(MPI_Info_dup) \
    X(MPI_Info_free) \
    X(MPI_Info_get) \
    X(MPI_Info_get_nkeys) \
    X(MPI_Info_get_nthkey) \
    X(MPI_Info_get_valuelen) \
    X(MPI_Info_set) \
    X(MPI_Init) \
    X(MPI_Init_thread) \
    X(MPI_Initialized) \
    X(MPI_Intercomm_create) \
    X(MPI_Intercomm_merge) \
    X(MPI_Iprobe) \
    X(MPI_Irecv) \
    X(MPI_Ireduce) \
    X(MPI_Ireduce_scatter) \
    X(MPI_Ireduce_scatter_block) \
    X(MPI_Irsend) \
    X(MPI_Is_thread_main) \
    X(MPI_Iscan) \
    X(MPI_Iscatter) \
    X(MPI_Iscatterv) \
    X(MPI_Isend) \
    X(MPI_Issend) \
    X(MPI_Mprobe) \
    X(MPI_Mrecv) \
    X(MPI_Neighbor_allgather) \
    X(MPI_Neighbor_allgatherv) \
    X(MPI_Neighbor_alltoall) \
    X(MPI_Neighbor_alltoallv) \
    X(MPI_Neighbor_alltoallw) \
    X(MPI_Op_commutative) \
    X(MPI_Op_create) \
    X(MPI_Op_free) \
    X(MPI_Pack) \
    X(MPI_Pack_external) \
    X(MPI_Pack_external_size) \
    X(MPI_Pack_size) \
    X(MPI_Pcontrol) \
    X(MPI_Probe) \
    X(MPI_Put) \
    X(MPI_Query_thread) \
    X(MPI_Raccumulate) \
    X(MPI_Recv) \
    X(MPI_Recv_init) \
    X(MPI_Reduce) \
    X(MPI_Reduce_local) \
    X(MPI_Reduce_scatter) \
    X(MPI_Reduce_scatter_block) \
    X(MPI_Request_free) \
    X(MPI_Request_get_status) \
    X(MPI_Rget) \
    X(MPI_Rget_accumulate) \
    X(MPI_Rput) \
    X(MPI_Rsend) \
    X(MPI_Rsend_init) \
    X(MPI_Scan) \
    X(MPI_Scatter) \
    X(MPI_Scatterv) \
    X(MPI_Send) \
    X(MPI_Send_init) \
    X(MPI_Sendrecv) \
    X(MPI_Sendrecv_replace) \
    X(MPI_Ssend) \
    X(MPI_Ssend_init) \
    X(MPI_Start) \
    X(MPI_Startall) \
    X(MPI_Test) \
    X(MPI_Test_cancelled) \
    X(MPI_Testall) \
    X(MPI_Testany) \
    X(MPI_Testsome) \
    X(MPI_Topo_test) \
    X(MPI_Type_commit) \
    X(MPI_Type_contiguous) \
    X(MPI_Type_create_darray) \
    X(MPI_Type_create_hindexed) \
    X(MPI_Type_create_hindexed_block) \
    X(MPI_Type_create_hvector) \
    X(MPI_Type_create_indexed_block) \
    X(MPI_Type_create_keyval) \
    X(MPI_Type_create_resized) \
    X(MPI_Type_create_struct) \
    X(MPI_Type_create_subarray) \
    X(MPI_Type_delete_attr) \
    X(MPI_Type_dup) \
    X(MPI_Type_free) \
    X(MPI_Type_free_keyval) \
    X(MPI_Type_get_attr) \
    X(MPI_Type_get_contents) \
    X(MPI_Type_get_envelope) \
    X(MPI_Type_get_extent) \
    X(MPI_Type_get_name) \
    X(MPI_Type_get_true_extent) \
    X(MPI_Type_indexed) \
    X(MPI_Type_set_attr) \
    X(MPI_Type_set_name) \
    X(MPI_Type_size) \
    X(MPI_Type_vector) \
    X(MPI_Unpack) \
    X(MPI_Unpack_external) \
    X(MPI_Wait) \
    X(MPI_Waitall) \
    X(MPI_Waitany) \
    X(MPI_Waitsome) \
    X(MPI_Win_allocate) \
    X(MPI_Win_allocate_shared) \
    X(MPI_Win_attach) \
    X(MPI_Win_complete) \
    X(MPI_Win_create) \
    X(MPI_Win_create_dynamic) \
    X(MPI_Win_create_keyval) \
    X(MPI_Win_delete_attr) \
    X(MPI_Win_detach) \
    X(MPI_Win_fence) \
    X(MPI_Win_flush) \
    X(MPI_Win_flush_all) \
    X(MPI_Win_flush_local) \
    X(MPI_Win_flush_local_all) \
    X(MPI_Win_free) \
    X(MPI_Win_free_keyval) \
    X(MPI_Win_get_attr) \
    X(MPI_Win_get_group) \
    X(MPI_Win_get_name) \
    X(MPI_Win_lock) \
    X(MPI_Win_lock_all) \
    X(MPI_Win_post) \
    X(MPI_Win_set_attr) \
    X(MPI_Win_set_name) \
    X(MPI_Win_shared_query) \
    X(MPI_Win_start) \
    X(MPI_Win_sync) \
    X(MPI_Win_test) \
    X(MPI_Win_unlock) \
    X(MPI_Win_unlock_all) \
    X(MPI_Win_wait) \
    X(MPI_Wtime)

#define COUNTED_ENUM(name) called_##name,
#define COUNTED_NAME(name) #name,
enum { COUNTED_FUNCTIONS(COUNTED_ENUM) called_functions };
static const char *const called_names[] = {COUNTED_FUNCTIONS(COUNTED_NAME)};
static atomic_ulong calls[called_functions];

#define MPI_Abort(...) COUNTED(MPI_Abort, __VA_ARGS__)
#define MPI_Accumulate(...) COUNTED(MPI_Accumulate, __VA_ARGS__)
#define MPI_Allgather(...) COUNTED(MPI_Allgather, __VA_ARGS__)
#define MPI_Allgatherv(...) COUNTED(MPI_Allgatherv, __VA_ARGS__)
#define MPI_Alloc_mem(...) COUNTED(MPI_Alloc_mem, __VA_ARGS__)
#define MPI_Allreduce(...) COUNTED(MPI_Allreduce, __VA_ARGS__)
#define MPI_Allreduce_init(...) COUNTED(MPI_Allreduce_init, __VA_ARGS__)
#define MPI_Alltoall(...) COUNTED(MPI_Alltoall, __VA_ARGS__)
#define MPI_Alltoallv(...) COUNTED(MPI_Alltoallv, __VA_ARGS__)
#define MPI_Alltoallw(...) COUNTED(MPI_Alltoallw, __VA_ARGS__)
#define MPI_Barrier(...) COUNTED(MPI_Barrier, __VA_ARGS__)
#define MPI_Bcast(...) COUNTED(MPI_Bcast, __VA_ARGS__)
#define MPI_Bsend(...) COUNTED(MPI_Bsend, __VA_ARGS__)
#define MPI_Bsend_init(...) COUNTED(MPI_Bsend_init, __VA_ARGS__)
#define MPI_Buffer_attach(...) COUNTED(MPI_Buffer_attach, __VA_ARGS__)
#define MPI_Buffer_detach(...) COUNTED(MPI_Buffer_detach, __VA_ARGS__)
#define MPI_Cancel(...) COUNTED(MPI_Cancel, __VA_ARGS__)
#define MPI_Cart_coords(...) COUNTED(MPI_Cart_coords, __VA_ARGS__)
#define MPI_Cart_create(...) COUNTED(MPI_Cart_create, __VA_ARGS__)
#define MPI_Cart_get(...) COUNTED(MPI_Cart_get, __VA_ARGS__)
#define MPI_Cart_map(...) COUNTED(MPI_Cart_map, __VA_ARGS__)
#define MPI_Cart_rank(...) COUNTED(MPI_Cart_rank, __VA_ARGS__)
#define MPI_Cart_shift(...) COUNTED(MPI_Cart_shift, __VA_ARGS__)
#define MPI_Cart_sub(...) COUNTED(MPI_Cart_sub, __VA_ARGS__)
#define MPI_Cartdim_get(...) COUNTED(MPI_Cartdim_get, __VA_ARGS__)
#define MPI_Comm_call_errhandler(...) COUNTED(MPI_Comm_call_errhandler, __VA_ARGS__)
#define MPI_Comm_compare(...) COUNTED(MPI_Comm_compare, __VA_ARGS__)
#define MPI_Comm_create(...) COUNTED(MPI_Comm_create, __VA_ARGS__)
#define MPI_Comm_create_errhandler(...) COUNTED(MPI_Comm_create_errhandler, __VA_ARGS__)
#define MPI_Comm_create_group(...) COUNTED(MPI_Comm_create_group, __VA_ARGS__)
#define MPI_Comm_create_keyval(...) COUNTED(MPI_Comm_create_keyval, __VA_ARGS__)
#define MPI_Comm_delete_attr(...) COUNTED(MPI_Comm_delete_attr, __VA_ARGS__)
#define MPI_Comm_dup(...) COUNTED(MPI_Comm_dup, __VA_ARGS__)
#define MPI_Comm_dup_with_info(...) COUNTED(MPI_Comm_dup_with_info, __VA_ARGS__)
#define MPI_Comm_free(...) COUNTED(MPI_Comm_free, __VA_ARGS__)
#define MPI_Comm_free_keyval(...) COUNTED(MPI_Comm_free_keyval, __VA_ARGS__)
#define MPI_Comm_get_attr(...) COUNTED(MPI_Comm_get_attr, __VA_ARGS__)
#define MPI_Comm_get_errhandler(...) COUNTED(MPI_Comm_get_errhandler, __VA_ARGS__)
#define MPI_Comm_get_info(...) COUNTED(MPI_Comm_get_info, __VA_ARGS__)
#define MPI_Comm_get_name(...) COUNTED(MPI_Comm_get_name, __VA_ARGS__)
#define MPI_Comm_group(...) COUNTED(MPI_Comm_group, __VA_ARGS__)
#define MPI_Comm_idup(...) COUNTED(MPI_Comm_idup, __VA_ARGS__)
#define MPI_Comm_rank(...) COUNTED(MPI_Comm_rank, __VA_ARGS__)
#define MPI_Comm_remote_group(...) COUNTED(MPI_Comm_remote_group, __VA_ARGS__)
#define MPI_Comm_remote_size(...) COUNTED(MPI_Comm_remote_size, __VA_ARGS__)
#define MPI_Comm_set_attr(...) COUNTED(MPI_Comm_set_attr, __VA_ARGS__)
#define MPI_Comm_set_errhandler(...) COUNTED(MPI_Comm_set_errhandler, __VA_ARGS__)
#define MPI_Comm_set_info(...) COUNTED(MPI_Comm_set_info, __VA_ARGS__)
#define MPI_Comm_set_name(...) COUNTED(MPI_Comm_set_name, __VA_ARGS__)
#define MPI_Comm_size(...) COUNTED(MPI_Comm_size, __VA_ARGS__)
#define MPI_Comm_split(...) COUNTED(MPI_Comm_split, __VA_ARGS__)
#define MPI_Comm_split_type(...) COUNTED(MPI_Comm_split_type, __VA_ARGS__)
#define MPI_Comm_test_inter(...) COUNTED(MPI_Comm_test_inter, __VA_ARGS__)
#define MPI_Compare_and_swap(...) COUNTED(MPI_Compare_and_swap, __VA_ARGS__)
#define MPI_Dims_create(...) COUNTED(MPI_Dims_create, __VA_ARGS__)
#define MPI_Dist_graph_create(...) COUNTED(MPI_Dist_graph_create, __VA_ARGS__)
#define MPI_Dist_graph_create_adjacent(...) COUNTED(MPI_Dist_graph_create_adjacent, __VA_ARGS__)
#define MPI_Dist_graph_neighbors(...) COUNTED(MPI_Dist_graph_neighbors, __VA_ARGS__)
#define MPI_Dist_graph_neighbors_count(...) COUNTED(MPI_Dist_graph_neighbors_count, __VA_ARGS__)
#define MPI_Errhandler_free(...) COUNTED(MPI_Errhandler_free, __VA_ARGS__)
#define MPI_Error_class(...) COUNTED(MPI_Error_class, __VA_ARGS__)
#define MPI_Error_string(...) COUNTED(MPI_Error_string, __VA_ARGS__)
#define MPI_Exscan(...) COUNTED(MPI_Exscan, __VA_ARGS__)
#define MPI_Fetch_and_op(...) COUNTED(MPI_Fetch_and_op, __VA_ARGS__)
#define MPI_File_close(...) COUNTED(MPI_File_close, __VA_ARGS__)
#define MPI_File_delete(...) COUNTED(MPI_File_delete, __VA_ARGS__)
#define MPI_File_get_amode(...) COUNTED(MPI_File_get_amode, __VA_ARGS__)
#define MPI_File_get_group(...) COUNTED(MPI_File_get_group, __VA_ARGS__)
#define MPI_File_get_position(...) COUNTED(MPI_File_get_position, __VA_ARGS__)
#define MPI_File_get_size(...) COUNTED(MPI_File_get_size, __VA_ARGS__)
#define MPI_File_get_view(...) COUNTED(MPI_File_get_view, __VA_ARGS__)
#define MPI_File_iread_at(...) COUNTED(MPI_File_iread_at, __VA_ARGS__)
#define MPI_File_iwrite_at(...) COUNTED(MPI_File_iwrite_at, __VA_ARGS__)
#define MPI_File_open(...) COUNTED(MPI_File_open, __VA_ARGS__)
#define MPI_File_read(...) COUNTED(MPI_File_read, __VA_ARGS__)
#define MPI_File_read_all(...) COUNTED(MPI_File_read_all, __VA_ARGS__)
#define MPI_File_read_at(...) COUNTED(MPI_File_read_at, __VA_ARGS__)
#define MPI_File_read_at_all(...) COUNTED(MPI_File_read_at_all, __VA_ARGS__)
#define MPI_File_read_ordered(...) COUNTED(MPI_File_read_ordered, __VA_ARGS__)
#define MPI_File_read_shared(...) COUNTED(MPI_File_read_shared, __VA_ARGS__)
#define MPI_File_seek(...) COUNTED(MPI_File_seek, __VA_ARGS__)
#define MPI_File_set_errhandler(...) COUNTED(MPI_File_set_errhandler, __VA_ARGS__)
#define MPI_File_set_size(...) COUNTED(MPI_File_set_size, __VA_ARGS__)
#define MPI_File_set_view(...) COUNTED(MPI_File_set_view, __VA_ARGS__)
#define MPI_File_sync(...) COUNTED(MPI_File_sync, __VA_ARGS__)
#define MPI_File_write(...) COUNTED(MPI_File_write, __VA_ARGS__)
#define MPI_File_write_all(...) COUNTED(MPI_File_write_all, __VA_ARGS__)
#define MPI_File_write_at(...) COUNTED(MPI_File_write_at, __VA_ARGS__)
#define MPI_File_write_at_all(...) COUNTED(MPI_File_write_at_all, __VA_ARGS__)
#define MPI_File_write_ordered(...) COUNTED(MPI_File_write_ordered, __VA_ARGS__)
#define MPI_File_write_shared(...) COUNTED(MPI_File_write_shared, __VA_ARGS__)
#define MPI_Finalize(...) COUNTED(MPI_Finalize, __VA_ARGS__)
#define MPI_Finalized(...) COUNTED(MPI_Finalized, __VA_ARGS__)
#define MPI_Free_mem(...) COUNTED(MPI_Free_mem, __VA_ARGS__)
#define MPI_Gather(...) COUNTED(MPI_Gather, __VA_ARGS__)
#define MPI_Gatherv(...) COUNTED(MPI_Gatherv, __VA_ARGS__)
#define MPI_Get(...) COUNTED(MPI_Get, __VA_ARGS__)
#define MPI_Get_accumulate(...) COUNTED(MPI_Get_accumulate, __VA_ARGS__)
#define MPI_Get_address(...) COUNTED(MPI_Get_address, __VA_ARGS__)
#define MPI_Get_count(...) COUNTED(MPI_Get_count, __VA_ARGS__)
#define MPI_Get_elements(...) COUNTED(MPI_Get_elements, __VA_ARGS__)
#define MPI_Get_library_version(...) COUNTED(MPI_Get_library_version, __VA_ARGS__)
#define MPI_Get_processor_name(...) COUNTED(MPI_Get_processor_name, __VA_ARGS__)
#define MPI_Get_version(...) COUNTED(MPI_Get_version, __VA_ARGS__)
#define MPI_Graph_create(...) COUNTED(MPI_Graph_create, __VA_ARGS__)
#define MPI_Graph_get(...) COUNTED(MPI_Graph_get, __VA_ARGS__)
#define MPI_Graph_neighbors(...) COUNTED(MPI_Graph_neighbors, __VA_ARGS__)
#define MPI_Graph_neighbors_count(...) COUNTED(MPI_Graph_neighbors_count, __VA_ARGS__)
#define MPI_Graphdims_get(...) COUNTED(MPI_Graphdims_get, __VA_ARGS__)
#define MPI_Group_compare(...) COUNTED(MPI_Group_compare, __VA_ARGS__)
#define MPI_Group_difference(...) COUNTED(MPI_Group_difference, __VA_ARGS__)
#define MPI_Group_excl(...) COUNTED(MPI_Group_excl, __VA_ARGS__)
#define MPI_Group_free(...) COUNTED(MPI_Group_free, __VA_ARGS__)
#define MPI_Group_incl(...) COUNTED(MPI_Group_incl, __VA_ARGS__)
#define MPI_Group_intersection(...) COUNTED(MPI_Group_intersection, __VA_ARGS__)
#define MPI_Group_range_incl(...) COUNTED(MPI_Group_range_incl, __VA_ARGS__)
#define MPI_Group_rank(...) COUNTED(MPI_Group_rank, __VA_ARGS__)
#define MPI_Group_size(...) COUNTED(MPI_Group_size, __VA_ARGS__)
#define MPI_Group_translate_ranks(...) COUNTED(MPI_Group_translate_ranks, __VA_ARGS__)
#define MPI_Group_union(...) COUNTED(MPI_Group_union, __VA_ARGS__)
#define MPI_Iallgather(...) COUNTED(MPI_Iallgather, __VA_ARGS__)
#define MPI_Iallgatherv(...) COUNTED(MPI_Iallgatherv, __VA_ARGS__)
#define MPI_Iallreduce(...) COUNTED(MPI_Iallreduce, __VA_ARGS__)
#define MPI_Ialltoall(...) COUNTED(MPI_Ialltoall, __VA_ARGS__)
#define MPI_Ialltoallv(...) COUNTED(MPI_Ialltoallv, __VA_ARGS__)
#define MPI_Ialltoallw(...) COUNTED(MPI_Ialltoallw, __VA_ARGS__)
#define MPI_Ibarrier(...) COUNTED(MPI_Ibarrier, __VA_ARGS__)
#define MPI_Ibcast(...) COUNTED(MPI_Ibcast, __VA_ARGS__)
#define MPI_Ibsend(...) COUNTED(MPI_Ibsend, __VA_ARGS__)
#define MPI_Iexscan(...) COUNTED(MPI_Iexscan, __VA_ARGS__)
#define MPI_Igather(...) COUNTED(MPI_Igather, __VA_ARGS__)
#define MPI_Igatherv(...) COUNTED(MPI_Igatherv, __VA_ARGS__)
#define MPI_Improbe(...) COUNTED(MPI_Improbe, __VA_ARGS__)
#define MPI_Imrecv(...) COUNTED(MPI_Imrecv, __VA_ARGS__)
#define MPI_Ineighbor_allgather(...) COUNTED(MPI_Ineighbor_allgather, __VA_ARGS__)
#define MPI_Ineighbor_allgatherv(...) COUNTED(MPI_Ineighbor_allgatherv, __VA_ARGS__)
#define MPI_Ineighbor_alltoall(...) COUNTED(MPI_Ineighbor_alltoall, __VA_ARGS__)
#define MPI_Ineighbor_alltoallv(...) COUNTED(MPI_Ineighbor_alltoallv, __VA_ARGS__)
#define MPI_Ineighbor_alltoallw(...) COUNTED(MPI_Ineighbor_alltoallw, __VA_ARGS__)
#define MPI_Info_create(...) COUNTED(MPI_Info_create, __VA_ARGS__)
#define MPI_Info_delete(...) COUNTED(MPI_Info_delete, __VA_ARGS__)
#define MPI_Info_dup(...) COUNTED(MPI_Info_dup, __VA_ARGS__)
#define MPI_Info_free(...) COUNTED(MPI_Info_free, __VA_ARGS__)
#define MPI_Info_get(...) COUNTED(MPI_Info_get, __VA_ARGS__)
#define MPI_Info_get_nkeys(...) COUNTED(MPI_Info_get_nkeys, __VA_ARGS__)
#define MPI_Info_get_nthkey(...) COUNTED(MPI_Info_get_nthkey, __VA_ARGS__)
#define MPI_Info_get_valuelen(...) COUNTED(MPI_Info_get_valuelen, __VA_ARGS__)
#define MPI_Info_set(...) COUNTED(MPI_Info_set, __VA_ARGS__)
#define MPI_Init(...) COUNTED(MPI_Init, __VA_ARGS__)
#define MPI_Init_thread(...) COUNTED(MPI_Init_thread, __VA_ARGS__)
#define MPI_Initialized(...) COUNTED(MPI_Initialized, __VA_ARGS__)
#define MPI_Intercomm_create(...) COUNTED(MPI_Intercomm_create, __VA_ARGS__)
#define MPI_Intercomm_merge(...) COUNTED(MPI_Intercomm_merge, __VA_ARGS__)
#define MPI_Iprobe(...) COUNTED(MPI_Iprobe, __VA_ARGS__)
#define MPI_Irecv(...) COUNTED(MPI_Irecv, __VA_ARGS__)
#define MPI_Ireduce(...) COUNTED(MPI_Ireduce, __VA_ARGS__)
#define MPI_Ireduce_scatter(...) COUNTED(MPI_Ireduce_scatter, __VA_ARGS__)
#define MPI_Ireduce_scatter_block(...) COUNTED(MPI_Ireduce_scatter_block, __VA_ARGS__)
#define MPI_Irsend(...) COUNTED(MPI_Irsend, __VA_ARGS__)
#define MPI_Is_thread_main(...) COUNTED(MPI_Is_thread_main, __VA_ARGS__)
#define MPI_Iscan(...) COUNTED(MPI_Iscan, __VA_ARGS__)
#define MPI_Iscatter(...) COUNTED(MPI_Iscatter, __VA_ARGS__)
#define MPI_Iscatterv(...) COUNTED(MPI_Iscatterv, __VA_ARGS__)
#define MPI_Isend(...) COUNTED(MPI_Isend, __VA_ARGS__)
#define MPI_Issend(...) COUNTED(MPI_Issend, __VA_ARGS__)
#define MPI_Mprobe(...) COUNTED(MPI_Mprobe, __VA_ARGS__)
#define MPI_Mrecv(...) COUNTED(MPI_Mrecv, __VA_ARGS__)
#define MPI_Neighbor_allgather(...) COUNTED(MPI_Neighbor_allgather, __VA_ARGS__)
#define MPI_Neighbor_allgatherv(...) COUNTED(MPI_Neighbor_allgatherv, __VA_ARGS__)
#define MPI_Neighbor_alltoall(...) COUNTED(MPI_Neighbor_alltoall, __VA_ARGS__)
#define MPI_Neighbor_alltoallv(...) COUNTED(MPI_Neighbor_alltoallv, __VA_ARGS__)
#define MPI_Neighbor_alltoallw(...) COUNTED(MPI_Neighbor_alltoallw, __VA_ARGS__)
#define MPI_Op_commutative(...) COUNTED(MPI_Op_commutative, __VA_ARGS__)
#define MPI_Op_create(...) COUNTED(MPI_Op_create, __VA_ARGS__)
#define MPI_Op_free(...) COUNTED(MPI_Op_free, __VA_ARGS__)
#define MPI_Pack(...) COUNTED(MPI_Pack, __VA_ARGS__)
#define MPI_Pack_external(...) COUNTED(MPI_Pack_external, __VA_ARGS__)
#define MPI_Pack_external_size(...) COUNTED(MPI_Pack_external_size, __VA_ARGS__)
#define MPI_Pack_size(...) COUNTED(MPI_Pack_size, __VA_ARGS__)
#define MPI_Pcontrol(...) COUNTED(MPI_Pcontrol, __VA_ARGS__)
#define MPI_Probe(...) COUNTED(MPI_Probe, __VA_ARGS__)
#define MPI_Put(...) COUNTED(MPI_Put, __VA_ARGS__)
#define MPI_Query_thread(...) COUNTED(MPI_Query_thread, __VA_ARGS__)
#define MPI_Raccumulate(...) COUNTED(MPI_Raccumulate, __VA_ARGS__)
#define MPI_Recv(...) COUNTED(MPI_Recv, __VA_ARGS__)
#define MPI_Recv_init(...) COUNTED(MPI_Recv_init, __VA_ARGS__)
#define MPI_Reduce(...) COUNTED(MPI_Reduce, __VA_ARGS__)
#define MPI_Reduce_local(...) COUNTED(MPI_Reduce_local, __VA_ARGS__)
#define MPI_Reduce_scatter(...) COUNTED(MPI_Reduce_scatter, __VA_ARGS__)
#define MPI_Reduce_scatter_block(...) COUNTED(MPI_Reduce_scatter_block, __VA_ARGS__)
#define MPI_Request_free(...) COUNTED(MPI_Request_free, __VA_ARGS__)
#define MPI_Request_get_status(...) COUNTED(MPI_Request_get_status, __VA_ARGS__)
#define MPI_Rget(...) COUNTED(MPI_Rget, __VA_ARGS__)
#define MPI_Rget_accumulate(...) COUNTED(MPI_Rget_accumulate, __VA_ARGS__)
#define MPI_Rput(...) COUNTED(MPI_Rput, __VA_ARGS__)
#define MPI_Rsend(...) COUNTED(MPI_Rsend, __VA_ARGS__)
#define MPI_Rsend_init(...) COUNTED(MPI_Rsend_init, __VA_ARGS__)
#define MPI_Scan(...) COUNTED(MPI_Scan, __VA_ARGS__)
#define MPI_Scatter(...) COUNTED(MPI_Scatter, __VA_ARGS__)
#define MPI_Scatterv(...) COUNTED(MPI_Scatterv, __VA_ARGS__)
#define MPI_Send(...) COUNTED(MPI_Send, __VA_ARGS__)
#define MPI_Send_init(...) COUNTED(MPI_Send_init, __VA_ARGS__)
#define MPI_Sendrecv(...) COUNTED(MPI_Sendrecv, __VA_ARGS__)
#define MPI_Sendrecv_replace(...) COUNTED(MPI_Sendrecv_replace, __VA_ARGS__)
#define MPI_Ssend(...) COUNTED(MPI_Ssend, __VA_ARGS__)
#define MPI_Ssend_init(...) COUNTED(MPI_Ssend_init, __VA_ARGS__)
#define MPI_Start(...) COUNTED(MPI_Start, __VA_ARGS__)
#define MPI_Startall(...) COUNTED(MPI_Startall, __VA_ARGS__)
#define MPI_Test(...) COUNTED(MPI_Test, __VA_ARGS__)
#define MPI_Test_cancelled(...) COUNTED(MPI_Test_cancelled, __VA_ARGS__)
#define MPI_Testall(...) COUNTED(MPI_Testall, __VA_ARGS__)
#define MPI_Testany(...) COUNTED(MPI_Testany, __VA_ARGS__)
#define MPI_Testsome(...) COUNTED(MPI_Testsome, __VA_ARGS__)
#define MPI_Topo_test(...) COUNTED(MPI_Topo_test, __VA_ARGS__)
#define MPI_Type_commit(...) COUNTED(MPI_Type_commit, __VA_ARGS__)
#define MPI_Type_contiguous(...) COUNTED(MPI_Type_contiguous, __VA_ARGS__)
#define MPI_Type_create_darray(...) COUNTED(MPI_Type_create_darray, __VA_ARGS__)
#define MPI_Type_create_hindexed(...) COUNTED(MPI_Type_create_hindexed, __VA_ARGS__)
#define MPI_Type_create_hindexed_block(...) COUNTED(MPI_Type_create_hindexed_block, __VA_ARGS__)
#define MPI_Type_create_hvector(...) COUNTED(MPI_Type_create_hvector, __VA_ARGS__)
#define MPI_Type_create_indexed_block(...) COUNTED(MPI_Type_create_indexed_block, __VA_ARGS__)
#define MPI_Type_create_keyval(...) COUNTED(MPI_Type_create_keyval, __VA_ARGS__)
#define MPI_Type_create_resized(...) COUNTED(MPI_Type_create_resized, __VA_ARGS__)
#define MPI_Type_create_struct(...) COUNTED(MPI_Type_create_struct, __VA_ARGS__)
#define MPI_Type_create_subarray(...) COUNTED(MPI_Type_create_subarray, __VA_ARGS__)
#define MPI_Type_delete_attr(...) COUNTED(MPI_Type_delete_attr, __VA_ARGS__)
#define MPI_Type_dup(...) COUNTED(MPI_Type_dup, __VA_ARGS__)
#define MPI_Type_free(...) COUNTED(MPI_Type_free, __VA_ARGS__)
#define MPI_Type_free_keyval(...) COUNTED(MPI_Type_free_keyval, __VA_ARGS__)
#define MPI_Type_get_attr(...) COUNTED(MPI_Type_get_attr, __VA_ARGS__)
#define MPI_Type_get_contents(...) COUNTED(MPI_Type_get_contents, __VA_ARGS__)
#define MPI_Type_get_envelope(...) COUNTED(MPI_Type_get_envelope, __VA_ARGS__)
#define MPI_Type_get_extent(...) COUNTED(MPI_Type_get_extent, __VA_ARGS__)
#define MPI_Type_get_name(...) COUNTED(MPI_Type_get_name, __VA_ARGS__)
#define MPI_Type_get_true_extent(...) COUNTED(MPI_Type_get_true_extent, __VA_ARGS__)
#define MPI_Type_indexed(...) COUNTED(MPI_Type_indexed, __VA_ARGS__)
#define MPI_Type_set_attr(...) COUNTED(MPI_Type_set_attr, __VA_ARGS__)
#define MPI_Type_set_name(...) COUNTED(MPI_Type_set_name, __VA_ARGS__)
#define MPI_Type_size(...) COUNTED(MPI_Type_size, __VA_ARGS__)
#define MPI_Type_vector(...) COUNTED(MPI_Type_vector, __VA_ARGS__)
#define MPI_Unpack(...) COUNTED(MPI_Unpack, __VA_ARGS__)
#define MPI_Unpack_external(...) COUNTED(MPI_Unpack_external, __VA_ARGS__)
#define MPI_Wait(...) COUNTED(MPI_Wait, __VA_ARGS__)
#define MPI_Waitall(...) COUNTED(MPI_Waitall, __VA_ARGS__)
#define MPI_Waitany(...) COUNTED(MPI_Waitany, __VA_ARGS__)
#define MPI_Waitsome(...) COUNTED(MPI_Waitsome, __VA_ARGS__)
#define MPI_Win_allocate(...) COUNTED(MPI_Win_allocate, __VA_ARGS__)
#define MPI_Win_allocate_shared(...) COUNTED(MPI_Win_allocate_shared, __VA_ARGS__)
#define MPI_Win_attach(...) COUNTED(MPI_Win_attach, __VA_ARGS__)
#define MPI_Win_complete(...) COUNTED(MPI_Win_complete, __VA_ARGS__)
#define MPI_Win_create(...) COUNTED(MPI_Win_create, __VA_ARGS__)
#define MPI_Win_create_dynamic(...) COUNTED(MPI_Win_create_dynamic, __VA_ARGS__)
#define MPI_Win_create_keyval(...) COUNTED(MPI_Win_create_keyval, __VA_ARGS__)
#define MPI_Win_delete_attr(...) COUNTED(MPI_Win_delete_attr, __VA_ARGS__)
#define MPI_Win_detach(...) COUNTED(MPI_Win_detach, __VA_ARGS__)
#define MPI_Win_fence(...) COUNTED(MPI_Win_fence, __VA_ARGS__)
#define MPI_Win_flush(...) COUNTED(MPI_Win_flush, __VA_ARGS__)
#define MPI_Win_flush_all(...) COUNTED(MPI_Win_flush_all, __VA_ARGS__)
#define MPI_Win_flush_local(...) COUNTED(MPI_Win_flush_local, __VA_ARGS__)
#define MPI_Win_flush_local_all(...) COUNTED(MPI_Win_flush_local_all, __VA_ARGS__)
#define MPI_Win_free(...) COUNTED(MPI_Win_free, __VA_ARGS__)
#define MPI_Win_free_keyval(...) COUNTED(MPI_Win_free_keyval, __VA_ARGS__)
#define MPI_Win_get_attr(...) COUNTED(MPI_Win_get_attr, __VA_ARGS__)
#define MPI_Win_get_group(...) COUNTED(MPI_Win_get_group, __VA_ARGS__)
#define MPI_Win_get_name(...) COUNTED(MPI_Win_get_name, __VA_ARGS__)
#define MPI_Win_lock(...) COUNTED(MPI_Win_lock, __VA_ARGS__)
#define MPI_Win_lock_all(...) COUNTED(MPI_Win_lock_all, __VA_ARGS__)
#define MPI_Win_post(...) COUNTED(MPI_Win_post, __VA_ARGS__)
#define MPI_Win_set_attr(...) COUNTED(MPI_Win_set_attr, __VA_ARGS__)
#define MPI_Win_set_name(...) COUNTED(MPI_Win_set_name, __VA_ARGS__)
#define MPI_Win_shared_query(...) COUNTED(MPI_Win_shared_query, __VA_ARGS__)
#define MPI_Win_start(...) COUNTED(MPI_Win_start, __VA_ARGS__)
#define MPI_Win_sync(...) COUNTED(MPI_Win_sync, __VA_ARGS__)
#define MPI_Win_test(...) COUNTED(MPI_Win_test, __VA_ARGS__)
#define MPI_Win_unlock(...) COUNTED(MPI_Win_unlock, __VA_ARGS__)
#define MPI_Win_unlock_all(...) COUNTED(MPI_Win_unlock_all, __VA_ARGS__)
#define MPI_Win_wait(...) COUNTED(MPI_Win_wait, __VA_ARGS__)
#define MPI_Wtime(...) COUNTED(MPI_Wtime, __VA_ARGS__)

#endif
