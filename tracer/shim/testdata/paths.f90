! Fortran procedures that call MPI, some of them through each other: the lines are named in paths_test.go.
module calls
  implicit none
contains
  subroutine leaf(tag)
    include 'mpif.h'
    integer, intent(in) :: tag
    integer :: error, request, status(MPI_STATUS_SIZE), in, out
    out = tag
    call MPI_Irecv(in, 1, MPI_INTEGER, 0, tag, MPI_COMM_SELF, request, error)
    call MPI_Send(out, 1, MPI_INTEGER, 0, tag, MPI_COMM_SELF, error)
    call MPI_Wait(request, status, error)
    if (in /= tag) stop 3
  end subroutine

  recursive subroutine down(depth, tag)
    integer, intent(in) :: depth, tag
    if (depth > 0) then
      call down(depth - 1, tag)
    else
      call leaf(tag)
    end if
    if (depth < 0) print *, depth ! nothing is a tail call
  end subroutine
end module

program paths
  use calls
  implicit none
  integer :: error
  call MPI_Init(error)
  call leaf(10)
  call down(3, 20)
  call down(0, 30)
  call MPI_Finalize(error)
end program
