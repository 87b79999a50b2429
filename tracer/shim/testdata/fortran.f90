! A Fortran program.
program ring
  implicit none
  include 'mpif.h'
  integer :: error, rank, ranks, got, i, requests(2), statuses(MPI_STATUS_SIZE, 2)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  do i = 1, 10
    call MPI_Irecv(got, 1, MPI_INTEGER, mod(rank + ranks - 1, ranks), i, MPI_COMM_WORLD, requests(1), error)
    call MPI_Isend(rank, 1, MPI_INTEGER, mod(rank + 1, ranks), i, MPI_COMM_WORLD, requests(2), error)
    call MPI_Waitall(2, requests, statuses, error)
  end do
  call MPI_Allreduce(MPI_IN_PLACE, got, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (got /= ranks * (ranks - 1) / 2) stop 3
  call MPI_Finalize(error)
end program
