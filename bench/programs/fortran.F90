! Loops of calls in Fortran, as percall.c has them in C: "name ns", CPU time of the process per MPI call.
program fortran
  use mpi
  implicit none
  character(len=20) :: argument
  integer :: n, k, e, me, requests(2)
  logical :: flag
  double precision :: x, y, begin
  x = 1
  n = 300000
  if (command_argument_count() > 0) then
    call get_command_argument(1, argument)
    read (argument, *) n
  end if
  call MPI_Init(e)
  call cpu_time(begin)
  do k = 1, n
    call MPI_Comm_rank(MPI_COMM_WORLD, me, e)
  end do
  call report('MPI_Comm_rank', 1)
  do k = 1, n
    call MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, e)
  end do
  call report('MPI_Iprobe', 1)
  do k = 1, n
    call MPI_Allreduce(x, y, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_SELF, e)
  end do
  call report('MPI_Allreduce(self)', 1)
  do k = 1, n
    call MPI_Irecv(y, 1, MPI_DOUBLE_PRECISION, 0, 2, MPI_COMM_SELF, requests(1), e)
    call MPI_Isend(x, 1, MPI_DOUBLE_PRECISION, 0, 2, MPI_COMM_SELF, requests(2), e)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, e)
  end do
  call report('Irecv+Isend+Waitall', 3)
  call MPI_Finalize(e)
contains
  subroutine report(name, calls)
    character(len=*), intent(in) :: name
    integer, intent(in) :: calls
    double precision :: end
    call cpu_time(end)
    print '(a, f10.1)', name, (end - begin) * 1d9 / n / calls
    call cpu_time(begin)
  end subroutine
end program
