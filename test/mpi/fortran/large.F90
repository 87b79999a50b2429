! Large counts: mpi_f08's procedures with counts of another kind, which are other symbols (_f08_large_, _f08ts_large_). MPICH
! only: Open MPI 4 has none, and mpif.h and the module mpi have them nowhere.
program large
  use mpi_f08
  use counted_calls
  implicit none
  integer(MPI_COUNT_KIND) :: n, size, lower, extent
  integer :: e, me, other, buffer(16), received(16)
  type(MPI_Datatype) :: d
  type(MPI_Request) :: r(2)
  type(MPI_Status) :: s
  call counted("MPI_Init"); call MPI_Init(e)
  call counted("MPI_Comm_rank"); call MPI_Comm_rank(MPI_COMM_WORLD, me, e)
  other = 1 - me
  buffer = me
  n = 4
  call counted("MPI_Irecv_c"); call MPI_Irecv(received, n, MPI_INTEGER, other, 1, MPI_COMM_WORLD, r(1), e)
  call counted("MPI_Isend_c"); call MPI_Isend(buffer, n, MPI_INTEGER, other, 1, MPI_COMM_WORLD, r(2), e)
  call counted("MPI_Waitall"); call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, e)
  call counted("MPI_Sendrecv_c")
  call MPI_Sendrecv(buffer, n, MPI_INTEGER, other, 2, received, n, MPI_INTEGER, other, 2, MPI_COMM_WORLD, s, e)
  call check(received(4) == other, 'Sendrecv')
  call counted("MPI_Get_count_c"); call MPI_Get_count(s, MPI_INTEGER, size, e)
  call check(size == 4, 'Get_count')
  call counted("MPI_Bcast_c"); call MPI_Bcast(buffer, n, MPI_INTEGER, 0, MPI_COMM_WORLD, e)
  call check(buffer(1) == 0, 'Bcast')
  call counted("MPI_Allreduce_c"); call MPI_Allreduce(MPI_IN_PLACE, buffer, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, e)
  call counted("MPI_Type_contiguous_c"); call MPI_Type_contiguous(n, MPI_INTEGER, d, e)
  call counted("MPI_Type_size_c"); call MPI_Type_size(d, size, e)
  call check(size == 16, 'Type_size')
  ! MPI_COUNT_KIND is MPI_ADDRESS_KIND here: this is the one with addresses
  call counted("MPI_Type_get_extent"); call MPI_Type_get_extent(d, lower, extent, e)
  call check(extent == 16, 'Type_get_extent')
  call counted("MPI_Type_free"); call MPI_Type_free(d, e)
  call counted("MPI_Finalize"); call MPI_Finalize(e)
  call print_counts(me)
end program
