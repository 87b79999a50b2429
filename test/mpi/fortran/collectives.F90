! Collectives: blocking, non-blocking and between neighbors; an operation of the program's own.
#include "binding.h"
module operation
contains
#ifdef USE_MPI_F08
  subroutine add(invec, inoutvec, len, datatype)
    use mpi_f08
    use iso_c_binding
    use counted_calls
    type(c_ptr), value :: invec, inoutvec
    integer :: len, k, e
    type(MPI_Datatype) :: datatype
    integer, pointer :: x(:), y(:)
    call c_f_pointer(invec, x, [len])
    call c_f_pointer(inoutvec, y, [len])
    y = x + y
#else
  subroutine add(invec, inoutvec, len, datatype)
    USE_BINDING
    use counted_calls
    INCLUDE_BINDING
    integer :: len, datatype, invec(len), inoutvec(len), k, e
    inoutvec = invec + inoutvec
#endif
    ! a call inside a callback is a call of the program
    CALL(MPI_Type_size)(datatype, k, e)
  end subroutine
end module

program collectives
  USE_BINDING
  use counted_calls
  use operation
  implicit none
  INCLUDE_BINDING
  integer :: e, me, n, i, one(64), all(64), counts(64), displs(64), d4(64)
  logical :: commutes
  OP :: plus
  REQUEST :: q
  COMM :: ring
  DATATYPE :: types(64)
  integer(MPI_ADDRESS_KIND) :: where(64)
  integer :: sources(2), targets(2)
  CALL(MPI_Init)(e)
  CALL(MPI_Comm_rank)(MPI_COMM_WORLD, me, e)
  CALL(MPI_Comm_size)(MPI_COMM_WORLD, n, e)
  one = me
  counts = 1
  displs = [(i, i = 0, 63)]
  d4 = 4 * displs
  where = d4
  types = MPI_INTEGER
  CALL(MPI_Op_create)(add, .true., plus, e)
  CALL(MPI_Op_commutative)(plus, commutes, e)
  call check(commutes, 'Op_commutative')
  do i = 1, 2
  CALL(MPI_Barrier)(MPI_COMM_WORLD, e)
  CALL(MPI_Ibarrier)(MPI_COMM_WORLD, q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Bcast)(one, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, e)
  CALL(MPI_Ibcast)(one, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Gather)(one, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, e)
  CALL(MPI_Igather)(one, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Gatherv)(one, 1, MPI_INTEGER, all, counts, displs, MPI_INTEGER, 0, MPI_COMM_WORLD, e)
  CALL(MPI_Igatherv)(one, 1, MPI_INTEGER, all, counts, displs, MPI_INTEGER, 0, MPI_COMM_WORLD, q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Scatter)(all, 1, MPI_INTEGER, one, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, e)
  CALL(MPI_Iscatter)(all, 1, MPI_INTEGER, one, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Scatterv)(all, counts, displs, MPI_INTEGER, one, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, e)
  CALL(MPI_Iscatterv)(all, counts, displs, MPI_INTEGER, one, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Allgather)(one, 1, MPI_INTEGER, all, 1, MPI_INTEGER, MPI_COMM_WORLD, e)
  CALL(MPI_Iallgather)(one, 1, MPI_INTEGER, all, 1, MPI_INTEGER, MPI_COMM_WORLD, q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Allgather)(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INTEGER, MPI_COMM_WORLD, e)
  CALL(MPI_Iallgather)(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INTEGER, MPI_COMM_WORLD, q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Allgatherv)(one, 1, MPI_INTEGER, all, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, e)
  CALL(MPI_Iallgatherv)(one, 1, MPI_INTEGER, all, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Alltoall)(one, 1, MPI_INTEGER, all, 1, MPI_INTEGER, MPI_COMM_WORLD, e)
  CALL(MPI_Ialltoall)(one, 1, MPI_INTEGER, all, 1, MPI_INTEGER, MPI_COMM_WORLD, q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Alltoallv)(one, counts, displs, MPI_INTEGER, all, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, e)
  CALL(MPI_Ialltoallv)(one, counts, displs, MPI_INTEGER, all, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Alltoallw)(one, counts, d4, types, all, counts, d4, types, MPI_COMM_WORLD, e)
  CALL(MPI_Ialltoallw)(one, counts, d4, types, all, counts, d4, types, MPI_COMM_WORLD, q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Reduce)(one, all, 4, MPI_INTEGER, plus, 0, MPI_COMM_WORLD, e)
  CALL(MPI_Ireduce)(one, all, 4, MPI_INTEGER, plus, 0, MPI_COMM_WORLD, q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Allreduce)(MPI_IN_PLACE, all, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, e)
  CALL(MPI_Iallreduce)(MPI_IN_PLACE, all, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Allreduce)(one, all, 4, MPI_INTEGER, plus, MPI_COMM_WORLD, e)
  CALL(MPI_Iallreduce)(one, all, 4, MPI_INTEGER, plus, MPI_COMM_WORLD, q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Reduce_scatter)(one, all, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, e)
  CALL(MPI_Ireduce_scatter)(one, all, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Reduce_scatter_block)(one, all, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, e)
  CALL(MPI_Ireduce_scatter_block)(one, all, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Scan)(one, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, e)
  CALL(MPI_Iscan)(one, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Exscan)(one, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, e)
  CALL(MPI_Iexscan)(one, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  end do
  CALL(MPI_Reduce_local)(one, all, 4, MPI_INTEGER, plus, e)
  CALL(MPI_Op_free)(plus, e)
  sources = [mod(me + n - 1, n), mod(me + 1, n)]
  targets = [mod(me + 1, n), mod(me + n - 1, n)]
  CALL(MPI_Dist_graph_create_adjacent)(MPI_COMM_WORLD, 2, sources, MPI_UNWEIGHTED, 2, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, .false., ring, e)
  CALL(MPI_Neighbor_allgather)(one, 1, MPI_INTEGER, all, 1, MPI_INTEGER, ring, e)
  CALL(MPI_Ineighbor_allgather)(one, 1, MPI_INTEGER, all, 1, MPI_INTEGER, ring, q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Neighbor_allgatherv)(one, 1, MPI_INTEGER, all, counts, displs, MPI_INTEGER, ring, e)
  CALL(MPI_Ineighbor_allgatherv)(one, 1, MPI_INTEGER, all, counts, displs, MPI_INTEGER, ring, q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Neighbor_alltoall)(one, 1, MPI_INTEGER, all, 1, MPI_INTEGER, ring, e)
  CALL(MPI_Ineighbor_alltoall)(one, 1, MPI_INTEGER, all, 1, MPI_INTEGER, ring, q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Neighbor_alltoallv)(one, counts, displs, MPI_INTEGER, all, counts, displs, MPI_INTEGER, ring, e)
  CALL(MPI_Ineighbor_alltoallv)(one, counts, displs, MPI_INTEGER, all, counts, displs, MPI_INTEGER, ring, q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Neighbor_alltoallw)(one, counts, where, types, all, counts, where, types, ring, e)
  CALL(MPI_Ineighbor_alltoallw)(one, counts, where, types, all, counts, where, types, ring, q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Comm_free)(ring, e)
  CALL(MPI_Finalize)(e)
  call print_counts(me)
end program
