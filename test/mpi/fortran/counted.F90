! Counts of the MPI calls that a program makes, and its end. `counts rank=R MPI_Send=12 …` is what a tracer must have seen.
module counted_calls
  implicit none
  integer, parameter :: most = 500
  character(len=40) :: names(most)
  integer :: calls(most), functions = 0, failures = 0
contains
  subroutine counted(name)
    character(len=*), intent(in) :: name
    integer :: i
    do i = 1, functions
      if (names(i) == name) exit
    end do
    if (i > functions) then
      functions = i
      names(i) = name
      calls(i) = 0
    end if
    calls(i) = calls(i) + 1
  end subroutine

  subroutine check(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    if (right) return
    print '(2a)', 'wrong: ', what
    failures = failures + 1
  end subroutine

  subroutine print_counts(rank)
    integer, intent(in) :: rank
    character(len=30000) :: line
    integer :: i, n
    write (line, '(a, i0)') 'counts rank=', rank
    n = len_trim(line)
    do i = 1, functions
      write (line(n + 1:), '(1x, a, "=", i0)') trim(names(i)), calls(i)
      n = len_trim(line)
    end do
    print '(a)', line(:n)
    if (failures > 0) error stop 1
  end subroutine
end module
