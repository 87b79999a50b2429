! What MPI 4.0 added: persistent collectives, partitioned communication, sessions. MPICH only: Open MPI 4 has none of it.
#include "binding.h"
module session_callback
contains
  subroutine on_session(object, code)
    USE_BINDING
    INCLUDE_BINDING
    SESSION :: object
    integer :: code
  end subroutine
end module

program mpi4
  USE_BINDING
  use counted_calls
  use session_callback
  implicit none
  INCLUDE_BINDING
  integer :: e, me, n, i, k, right, left
  integer, asynchronous :: one(64), all(64)
  integer :: counts(64), displs(64), d4(64), sources(2), targets(2)
  integer(MPI_ADDRESS_KIND) :: where(64)
  integer(MPI_COUNT_KIND) :: big
#ifdef USE_MPI
  integer :: flag2 ! MPICH 4.0 declares it so
#else
  logical :: flag2
#endif
  logical :: flag
  COMM :: ring, c, inter
  DATATYPE :: types(64)
  ERRHANDLER :: h
  GROUP :: g, self, peer
  INFO :: info1
  REQUEST :: q, r(2)
  SESSION :: session
  STATUS(s)
  character(len=200) :: text
  CALL(MPI_Init)(e)
  CALL(MPI_Comm_rank)(MPI_COMM_WORLD, me, e)
  CALL(MPI_Comm_size)(MPI_COMM_WORLD, n, e)
  right = mod(me + 1, n)
  left = mod(me + n - 1, n)
  one = me
  counts = 1
  displs = [(i, i = 0, 63)]
  d4 = 4 * displs
  where = d4
  types = MPI_INTEGER
  sources = [left, right]
  targets = [right, left]
  CALL(MPI_Dist_graph_create_adjacent)(MPI_COMM_WORLD, 2, sources, MPI_UNWEIGHTED, 2, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, .false., ring, e)
  CALL(MPI_Barrier_init)(MPI_COMM_WORLD, MPI_INFO_NULL, q, e)
  CALL(MPI_Start)(q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Request_free)(q, e)
  CALL(MPI_Bcast_init)(one, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, q, e)
  CALL(MPI_Start)(q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Request_free)(q, e)
  CALL(MPI_Gather_init)(one, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, q, e)
  CALL(MPI_Start)(q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Request_free)(q, e)
  CALL(MPI_Gatherv_init)(one, 1, MPI_INTEGER, all, counts, displs, MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, q, e)
  CALL(MPI_Start)(q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Request_free)(q, e)
  CALL(MPI_Scatter_init)(all, 1, MPI_INTEGER, one, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, q, e)
  CALL(MPI_Start)(q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Request_free)(q, e)
  CALL(MPI_Scatterv_init)(all, counts, displs, MPI_INTEGER, one, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, q, e)
  CALL(MPI_Start)(q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Request_free)(q, e)
  CALL(MPI_Allgather_init)(one, 1, MPI_INTEGER, all, 1, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, q, e)
  CALL(MPI_Start)(q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Request_free)(q, e)
  CALL(MPI_Allgatherv_init)(one, 1, MPI_INTEGER, all, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, q, e)
  CALL(MPI_Start)(q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Request_free)(q, e)
  CALL(MPI_Alltoall_init)(one, 1, MPI_INTEGER, all, 1, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, q, e)
  CALL(MPI_Start)(q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Request_free)(q, e)
  CALL(MPI_Alltoallv_init)(one, counts, displs, MPI_INTEGER, all, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, q, e)
  CALL(MPI_Start)(q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Request_free)(q, e)
  CALL(MPI_Alltoallw_init)(one, counts, d4, types, all, counts, d4, types, MPI_COMM_WORLD, MPI_INFO_NULL, q, e)
  CALL(MPI_Start)(q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Request_free)(q, e)
  CALL(MPI_Reduce_init)(one, all, 4, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, MPI_INFO_NULL, q, e)
  CALL(MPI_Start)(q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Request_free)(q, e)
  CALL(MPI_Allreduce_init)(one, all, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, q, e)
  CALL(MPI_Start)(q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Request_free)(q, e)
  CALL(MPI_Reduce_scatter_init)(one, all, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, q, e)
  CALL(MPI_Start)(q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Request_free)(q, e)
  CALL(MPI_Reduce_scatter_block_init)(one, all, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, q, e)
  CALL(MPI_Start)(q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Request_free)(q, e)
  CALL(MPI_Scan_init)(one, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, q, e)
  CALL(MPI_Start)(q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Request_free)(q, e)
  CALL(MPI_Exscan_init)(one, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, q, e)
  CALL(MPI_Start)(q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Request_free)(q, e)
  CALL(MPI_Neighbor_allgather_init)(one, 1, MPI_INTEGER, all, 1, MPI_INTEGER, ring, MPI_INFO_NULL, q, e)
  CALL(MPI_Start)(q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Request_free)(q, e)
  CALL(MPI_Neighbor_allgatherv_init)(one, 1, MPI_INTEGER, all, counts, displs, MPI_INTEGER, ring, MPI_INFO_NULL, q, e)
  CALL(MPI_Start)(q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Request_free)(q, e)
  CALL(MPI_Neighbor_alltoall_init)(one, 1, MPI_INTEGER, all, 1, MPI_INTEGER, ring, MPI_INFO_NULL, q, e)
  CALL(MPI_Start)(q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Request_free)(q, e)
  CALL(MPI_Neighbor_alltoallv_init)(one, counts, displs, MPI_INTEGER, all, counts, displs, MPI_INTEGER, ring, MPI_INFO_NULL, q, e)
  CALL(MPI_Start)(q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Request_free)(q, e)
  CALL(MPI_Neighbor_alltoallw_init)(one, counts, where, types, all, counts, where, types, ring, MPI_INFO_NULL, q, e)
  CALL(MPI_Start)(q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Request_free)(q, e)
  CALL(MPI_Isendrecv)(one, 4, MPI_INTEGER, right, 1, all, 4, MPI_INTEGER, left, 1, MPI_COMM_WORLD, q, e)
  CALL(MPI_Wait)(q, s, e)
  CALL(MPI_Isendrecv_replace)(all, 4, MPI_INTEGER, right, 1, left, 1, MPI_COMM_WORLD, q, e)
  CALL(MPI_Wait)(q, s, e)
  ! partitioned
  big = 2
  CALL(MPI_Precv_init)(all, 4, big, MPI_INTEGER, left, 2, MPI_COMM_WORLD, MPI_INFO_NULL, r(1), e)
  CALL(MPI_Psend_init)(one, 4, big, MPI_INTEGER, right, 2, MPI_COMM_WORLD, MPI_INFO_NULL, r(2), e)
  CALL(MPI_Startall)(2, r, e)
  CALL(MPI_Pready)(0, r(2), e)
  CALL(MPI_Pready_range)(1, 2, r(2), e)
  CALL(MPI_Pready_list)(1, [3], r(2), e)
  do
    CALL(MPI_Parrived)(r(1), 0, flag2, e)
#ifdef USE_MPI
    if (flag2 /= 0) exit
#else
    if (flag2) exit
#endif
  end do
  CALL(MPI_Waitall)(2, r, MPI_STATUSES_IGNORE, e)
  CALL(MPI_Request_free)(r(1), e)
  CALL(MPI_Request_free)(r(2), e)
  ! sessions
  CALL(MPI_Session_init)(MPI_INFO_NULL, MPI_ERRORS_RETURN, session, e)
  CALL(MPI_Session_get_num_psets)(session, MPI_INFO_NULL, k, e)
  call check(k >= 2, 'Session_get_num_psets')
  k = len(text)
#ifdef USE_MPI_F08
  CALL(MPI_Session_get_nth_pset)(session, MPI_INFO_NULL, 0, k, text, e)
#else
  CALL(MPI_Session_get_nth_pset)(session, MPI_INFO_NULL, 1, k, text, e) ! MPICH 4.0 subtracts 1
#endif
  call check(text == 'mpi://WORLD', 'Session_get_nth_pset')
  CALL(MPI_Session_get_pset_info)(session, 'mpi://WORLD', info1, e)
  k = len(text)
  CALL(MPI_Info_get_string)(info1, 'mpi_size', k, text, flag, e)
  CALL(MPI_Info_free)(info1, e)
  CALL(MPI_Session_get_info)(session, info1, e)
  CALL(MPI_Info_free)(info1, e)
  CALL(MPI_Session_create_errhandler)(on_session, h, e)
  CALL(MPI_Session_set_errhandler)(session, h, e)
  CALL(MPI_Errhandler_free)(h, e)
  CALL(MPI_Session_get_errhandler)(session, h, e)
  CALL(MPI_Session_set_errhandler)(session, h, e)
  CALL(MPI_Errhandler_free)(h, e)
  CALL(MPI_Group_from_session_pset)(session, 'mpi://WORLD', g, e)
  if (me < 2) then ! the first two ranks, a group each
    CALL(MPI_Group_incl)(g, 1, [me], self, e)
    CALL(MPI_Group_incl)(g, 1, [1 - me], peer, e)
    CALL(MPI_Intercomm_create_from_groups)(self, 0, peer, 0, 'a tag', MPI_INFO_NULL, MPI_ERRORS_RETURN, inter, e)
    CALL(MPI_Comm_free)(inter, e)
    CALL(MPI_Group_free)(self, e)
    CALL(MPI_Group_free)(peer, e)
  end if
  CALL(MPI_Comm_create_from_group)(g, 'a tag', MPI_INFO_NULL, MPI_ERRORS_RETURN, c, e)
  CALL(MPI_Comm_free)(c, e)
  CALL(MPI_Group_free)(g, e)
  CALL(MPI_Session_finalize)(session, e)
#ifndef USE_MPI_F08
  CALL(MPI_Info_create_env)(info1, e) ! MPICH 4.0 crashes in that of mpi_f08
  CALL(MPI_Info_free)(info1, e)
#endif
  CALL(MPI_Comm_idup_with_info)(MPI_COMM_WORLD, MPI_INFO_NULL, c, q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Comm_free)(c, e)
  CALL(MPI_Comm_free)(ring, e)
  CALL(MPI_Finalize)(e)
  call print_counts(me)
end program
