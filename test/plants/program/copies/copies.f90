! copies.c in Fortran, for two binaries.
program copies
  use mpi
  use iso_c_binding, only: c_int
  implicit none
  interface
    integer(c_int) function usleep(us) bind(c)
      import c_int
      integer(c_int), value :: us
    end function
  end interface
  integer :: error, rank, odd, us(2)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  odd = number(1)
  us = [number(2), number(3)]
  if (rank == odd) then
    call steps(us(1))
  else
    call steps(us(2))
  end if
  call MPI_Finalize(error)
contains
  integer function number(i)
    integer, intent(in) :: i
    character(len=16) :: text
    call get_command_argument(i, text)
    read (text, *) number
  end function
  subroutine steps(us)
    integer, intent(in) :: us
    integer :: i, error, slept
    double precision :: x, y
    x = 1
    do i = 1, 40
      slept = usleep(us)
      call MPI_Allreduce(x, y, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
    end do
  end subroutine
end program
