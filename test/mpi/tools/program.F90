! SPDX-License-Identifier: Apache-2.0
! Counts its calls of MPI. -DOWN: it defines MPI_Allreduce, MPI_Comm_rank and MPI_Comm_get_attr itself, and calls PMPI_X.
program counted
  implicit none
  include 'mpif.h'
  integer :: rank, size, ierr, i, value_in, value_out, request(2), left, right, wtimes
  integer(kind=MPI_ADDRESS_KIND) :: value
  logical :: flag
  double precision :: t

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  left = mod(rank + size - 1, size)
  right = mod(rank + 1, size)
  wtimes = 0
  do i = 1, 20
    value_in = i
    call MPI_Allreduce(value_in, value_out, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call MPI_Sendrecv(value_in, 1, MPI_INTEGER, right, i, value_out, 1, MPI_INTEGER, left, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Irecv(value_out, 1, MPI_INTEGER, left, 0, MPI_COMM_WORLD, request(1), ierr)
    call MPI_Isend(value_in, 1, MPI_INTEGER, right, 0, MPI_COMM_WORLD, request(2), ierr)
    call MPI_Waitall(2, request, MPI_STATUSES_IGNORE, ierr)
    call MPI_Waitall(0, request, MPI_STATUSES_IGNORE, ierr)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierr)
    t = MPI_Wtime()
    if (t >= 0) wtimes = wtimes + 1
  end do
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)
  print '(a,i0,a,i0)', 'counts rank=', rank, ' MPI_Init=1 MPI_Comm_rank=1 MPI_Comm_size=1 MPI_Allreduce=20 MPI_Sendrecv=20 MPI_Irecv=20' // &
    ' MPI_Isend=20 MPI_Waitall=40 MPI_Comm_get_attr=20 MPI_Barrier=1 MPI_Finalize=1 MPI_Wtime=', wtimes
end program

#ifdef OWN
subroutine MPI_Allreduce(sent, received, n, type, op, comm, ierr)
  integer :: sent, received, n, type, op, comm, ierr
  call PMPI_Allreduce(sent, received, n, type, op, comm, ierr)
end subroutine
subroutine MPI_Comm_rank(comm, rank, ierr)
  integer :: comm, rank, ierr
  call PMPI_Comm_rank(comm, rank, ierr)
end subroutine
subroutine MPI_Comm_get_attr(comm, keyval, value, flag, ierr)
  include 'mpif.h'
  integer :: comm, keyval, ierr
  integer(kind=MPI_ADDRESS_KIND) :: value
  logical :: flag
  call PMPI_Comm_get_attr(comm, keyval, value, flag, ierr)
end subroutine
#endif
