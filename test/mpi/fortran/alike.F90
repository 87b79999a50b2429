! The calls of alike.c in Fortran: what is recorded must be the same.
#include "binding.h"
program alike
  USE_BINDING
  implicit none
  INCLUDE_BINDING
  integer, parameter :: aint = MPI_ADDRESS_KIND
  integer :: e, me, n, done, indices(2), key, in(2), out(2), sources(1), targets(1)
  integer(aint) :: extra, value
  logical :: flag
  COMM :: c
  DATATYPE :: d
  MESSAGE :: m
  REQUEST :: r(2)
  extra = 0
  call MPI_Init(e)
  call MPI_Comm_rank(MPI_COMM_SELF, me, e)
  ! statuses that the program ignores
  call start(r, in, out)
  call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, e)
  call start(r, in, out)
  n = 0
  do while (n < 2)
    call MPI_Waitsome(2, r, done, indices, MPI_STATUSES_IGNORE, e)
    n = n + done
  end do
  call start(r, in, out)
  flag = .false.
  do while (.not. flag)
    call MPI_Testall(2, r, flag, MPI_STATUSES_IGNORE, e)
  end do
  call start(r, in, out)
  n = 0
  do while (n < 2)
    call MPI_Testsome(2, r, done, indices, MPI_STATUSES_IGNORE, e)
    n = n + done
  end do
  call start(r, in, out)
  call MPI_Waitany(2, r, n, MPI_STATUS_IGNORE, e)
  call MPI_Waitany(2, r, n, MPI_STATUS_IGNORE, e)
  call start(r, in, out)
  call MPI_Testany(2, r, n, flag, MPI_STATUS_IGNORE, e)
  call MPI_Test(r(1), flag, MPI_STATUS_IGNORE, e)
  call MPI_Wait(r(1), MPI_STATUS_IGNORE, e)
  call MPI_Request_get_status(r(2), flag, MPI_STATUS_IGNORE, e)
  call MPI_Wait(r(2), MPI_STATUS_IGNORE, e)
  call MPI_Sendrecv(in, 1, MPI_INTEGER, 0, 1, out, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE, e)
  call MPI_Sendrecv_replace(in, 1, MPI_INTEGER, 0, 1, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE, e)
  call MPI_Isend(in, 1, MPI_INTEGER, 0, 2, MPI_COMM_SELF, r(1), e)
  call MPI_Probe(0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE, e)
  call MPI_Iprobe(0, 2, MPI_COMM_SELF, flag, MPI_STATUS_IGNORE, e)
  call MPI_Mprobe(0, 2, MPI_COMM_SELF, m, MPI_STATUS_IGNORE, e)
  call MPI_Mrecv(out, 1, MPI_INTEGER, m, MPI_STATUS_IGNORE, e)
  call MPI_Wait(r(1), MPI_STATUS_IGNORE, e)
  call MPI_Isend(in, 1, MPI_INTEGER, 0, 3, MPI_COMM_SELF, r(1), e)
  call MPI_Recv(out, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE, e)
  call MPI_Wait(r(1), MPI_STATUS_IGNORE, e)
  ! no requests
  call MPI_Waitall(0, r, MPI_STATUSES_IGNORE, e)
  call MPI_Waitany(0, r, n, MPI_STATUS_IGNORE, e)
  call MPI_Waitsome(0, r, done, indices, MPI_STATUSES_IGNORE, e)
  call MPI_Testall(0, r, flag, MPI_STATUSES_IGNORE, e)
  call MPI_Testany(0, r, n, flag, MPI_STATUS_IGNORE, e)
  call MPI_Testsome(0, r, done, indices, MPI_STATUSES_IGNORE, e)
  ! predefined callbacks and keyvals
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, extra, e)
  call MPI_Comm_free_keyval(key, e)
  call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, key, extra, e)
  call MPI_Comm_free_keyval(key, e)
  call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, key, extra, e)
  call MPI_Type_free_keyval(key, e)
  call MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, key, extra, e)
  call MPI_Type_free_keyval(key, e)
  call MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, key, extra, e)
  call MPI_Win_free_keyval(key, e)
  call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, key, extra, e)
  call MPI_Win_free_keyval(key, e)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, e)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, value, flag, e)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, value, flag, e)
  ! constants that are addresses
  call MPI_Allreduce(MPI_IN_PLACE, out, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF, e)
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, 1, MPI_INTEGER, MPI_COMM_SELF, e)
  sources(1) = 0
  targets(1) = 0
  call MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 1, sources, MPI_UNWEIGHTED, 1, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, .false., c, e)
  call MPI_Comm_free(c, e)
  call MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 0, sources, MPI_WEIGHTS_EMPTY, 0, targets, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, .false., c, e)
  call MPI_Comm_free(c, e)
  call MPI_Type_contiguous(3, MPI_DOUBLE_PRECISION, d, e)
  call MPI_Type_commit(d, e)
  call MPI_Bcast(MPI_BOTTOM, 0, d, 0, MPI_COMM_SELF, e)
  call MPI_Type_free(d, e)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, e)
  call MPI_Finalize(e)
contains
  subroutine start(r, in, out)
    REQUEST :: r(2)
    integer :: in(2), out(2)
    call MPI_Irecv(out, 1, MPI_INTEGER, 0, 7, MPI_COMM_SELF, r(1), e)
    call MPI_Isend(in, 1, MPI_INTEGER, 0, 7, MPI_COMM_SELF, r(2), e)
  end subroutine
end program
