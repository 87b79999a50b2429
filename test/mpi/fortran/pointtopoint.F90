! Point-to-point: blocking, non-blocking, persistent, matched and buffered; probes; all ways to complete a request.
#include "binding.h"
program pointtopoint
  USE_BINDING
  use counted_calls
  implicit none
  INCLUDE_BINDING
  integer :: e, me, n, right, left, a(8), b(8), i, k, done, indices(4), bsize
  integer :: buffer(4000)
  logical :: flag
  REQUEST :: q, r(4)
  STATUS(s)
  STATUSES(ss, 4)
  MESSAGE :: m
  character(len=MPI_MAX_PROCESSOR_NAME) :: host
  CALL(MPI_Init)(e)
  CALL(MPI_Comm_rank)(MPI_COMM_WORLD, me, e)
  CALL(MPI_Comm_size)(MPI_COMM_WORLD, n, e)
  CALL(MPI_Get_processor_name)(host, k, e)
  right = mod(me + 1, n)
  left = mod(me + n - 1, n)
  a = me
  bsize = 4 * size(buffer)
  CALL(MPI_Buffer_attach)(buffer, bsize, e)
  do i = 1, 3
    CALL(MPI_Irecv)(b, 8, MPI_INTEGER, left, 1, MPI_COMM_WORLD, q, e)
    CALL(MPI_Send)(a, 8, MPI_INTEGER, right, 1, MPI_COMM_WORLD, e)
    CALL(MPI_Wait)(q, s, e)
    call check(b(8) == left, 'what Irecv got')
    CALL(MPI_Get_count)(s, MPI_INTEGER, k, e)
    CALL(MPI_Get_elements)(s, MPI_INTEGER, k, e)
    call check(k == 8, 'Get_elements')
    CALL(MPI_Irecv)(b, 8, MPI_INTEGER, left, 1, MPI_COMM_WORLD, q, e)
    CALL(MPI_Ssend)(a, 8, MPI_INTEGER, right, 1, MPI_COMM_WORLD, e)
    CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
    CALL(MPI_Bsend)(a, 8, MPI_INTEGER, right, 2, MPI_COMM_WORLD, e)
    CALL(MPI_Probe)(left, 2, MPI_COMM_WORLD, s, e)
    CALL(MPI_Recv)(b, 8, MPI_INTEGER, left, 2, MPI_COMM_WORLD, s, e)
    CALL(MPI_Irecv)(b, 8, MPI_INTEGER, left, 3, MPI_COMM_WORLD, q, e)
    CALL(MPI_Barrier)(MPI_COMM_WORLD, e)
    CALL(MPI_Rsend)(a, 8, MPI_INTEGER, right, 3, MPI_COMM_WORLD, e)
    do
      CALL(MPI_Test)(q, flag, s, e)
      if (flag) exit
    end do
    CALL(MPI_Sendrecv)(a, 4, MPI_INTEGER, right, 4, b, 4, MPI_INTEGER, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE, e)
    CALL(MPI_Sendrecv_replace)(b, 4, MPI_INTEGER, right, 4, left, 4, MPI_COMM_WORLD, s, e)
    ! all kinds of non-blocking sends
    CALL(MPI_Irecv)(b(1), 1, MPI_INTEGER, left, 5, MPI_COMM_WORLD, r(1), e)
    CALL(MPI_Isend)(a(1), 1, MPI_INTEGER, right, 5, MPI_COMM_WORLD, r(2), e)
    CALL(MPI_Irecv)(b(2), 1, MPI_INTEGER, left, 6, MPI_COMM_WORLD, r(3), e)
    CALL(MPI_Issend)(a(2), 1, MPI_INTEGER, right, 6, MPI_COMM_WORLD, r(4), e)
    CALL(MPI_Waitall)(4, r, ss, e)
    CALL(MPI_Irecv)(b(1), 1, MPI_INTEGER, left, 5, MPI_COMM_WORLD, r(1), e)
    CALL(MPI_Ibsend)(a(1), 1, MPI_INTEGER, right, 5, MPI_COMM_WORLD, r(2), e)
    CALL(MPI_Irecv)(b(2), 1, MPI_INTEGER, left, 6, MPI_COMM_WORLD, r(3), e)
    CALL(MPI_Barrier)(MPI_COMM_WORLD, e)
    CALL(MPI_Irsend)(a(2), 1, MPI_INTEGER, right, 6, MPI_COMM_WORLD, r(4), e)
    do k = 1, 4
      CALL(MPI_Waitany)(4, r, done, s, e)
    end do
    CALL(MPI_Waitany)(4, r, done, MPI_STATUS_IGNORE, e)
    CALL(MPI_Irecv)(b(1), 1, MPI_INTEGER, left, 5, MPI_COMM_WORLD, r(1), e)
    CALL(MPI_Isend)(a(1), 1, MPI_INTEGER, right, 5, MPI_COMM_WORLD, r(2), e)
    k = 0
    do while (k < 2)
      CALL(MPI_Waitsome)(2, r, done, indices, ss, e)
      k = k + done
    end do
    CALL(MPI_Irecv)(b(1), 1, MPI_INTEGER, left, 5, MPI_COMM_WORLD, r(1), e)
    CALL(MPI_Isend)(a(1), 1, MPI_INTEGER, right, 5, MPI_COMM_WORLD, r(2), e)
    k = 0
    do while (k < 2)
      CALL(MPI_Testsome)(2, r, done, indices, MPI_STATUSES_IGNORE, e)
      k = k + done
    end do
    CALL(MPI_Irecv)(b(1), 1, MPI_INTEGER, left, 5, MPI_COMM_WORLD, r(1), e)
    CALL(MPI_Isend)(a(1), 1, MPI_INTEGER, right, 5, MPI_COMM_WORLD, r(2), e)
    k = 0
    do while (k < 2)
      CALL(MPI_Testany)(2, r, done, flag, s, e)
      if (flag) k = k + 1
    end do
    CALL(MPI_Irecv)(b(1), 1, MPI_INTEGER, left, 5, MPI_COMM_WORLD, r(1), e)
    CALL(MPI_Isend)(a(1), 1, MPI_INTEGER, right, 5, MPI_COMM_WORLD, r(2), e)
    do
      CALL(MPI_Testall)(2, r, flag, MPI_STATUSES_IGNORE, e)
      if (flag) exit
    end do
    ! matched
    CALL(MPI_Isend)(a, 3, MPI_INTEGER, right, 7, MPI_COMM_WORLD, r(1), e)
    CALL(MPI_Mprobe)(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, m, s, e)
    CALL(MPI_Mrecv)(b, 3, MPI_INTEGER, m, s, e)
    CALL(MPI_Wait)(r(1), MPI_STATUS_IGNORE, e)
    CALL(MPI_Isend)(a, 3, MPI_INTEGER, right, 8, MPI_COMM_WORLD, r(1), e)
    do
      CALL(MPI_Improbe)(left, MPI_ANY_TAG, MPI_COMM_WORLD, flag, m, s, e)
      if (flag) exit
    end do
    CALL(MPI_Imrecv)(b, 3, MPI_INTEGER, m, r(2), e)
    CALL(MPI_Waitall)(2, r, MPI_STATUSES_IGNORE, e)
    CALL(MPI_Isend)(a, 3, MPI_INTEGER, right, 9, MPI_COMM_WORLD, r(1), e)
    do
      CALL(MPI_Iprobe)(left, 9, MPI_COMM_WORLD, flag, s, e)
      if (flag) exit
    end do
    CALL(MPI_Irecv)(b, 8, MPI_INTEGER, left, 9, MPI_COMM_WORLD, r(2), e)
    CALL(MPI_Waitall)(2, r, ss, e)
  end do
  ! persistent
  CALL(MPI_Recv_init)(b(1), 1, MPI_INTEGER, left, 1, MPI_COMM_WORLD, r(1), e)
  CALL(MPI_Send_init)(a(1), 1, MPI_INTEGER, right, 1, MPI_COMM_WORLD, r(2), e)
  CALL(MPI_Ssend_init)(a(1), 1, MPI_INTEGER, right, 1, MPI_COMM_WORLD, r(3), e)
  CALL(MPI_Bsend_init)(a(1), 1, MPI_INTEGER, right, 1, MPI_COMM_WORLD, r(4), e)
  do k = 2, 4
    CALL(MPI_Start)(r(1), e)
    CALL(MPI_Start)(r(k), e)
    CALL(MPI_Wait)(r(1), s, e)
    CALL(MPI_Wait)(r(k), s, e)
  end do
  CALL(MPI_Startall)(2, r, e)
  CALL(MPI_Request_get_status)(r(1), flag, s, e)
  CALL(MPI_Waitall)(2, r, ss, e)
  do k = 1, 4
    CALL(MPI_Request_free)(r(k), e)
  end do
  CALL(MPI_Rsend_init)(a(1), 1, MPI_INTEGER, right, 1, MPI_COMM_WORLD, r(1), e)
  CALL(MPI_Irecv)(b, 8, MPI_INTEGER, left, 1, MPI_COMM_WORLD, r(2), e)
  CALL(MPI_Barrier)(MPI_COMM_WORLD, e)
  CALL(MPI_Start)(r(1), e)
  CALL(MPI_Waitall)(2, r, ss, e)
  CALL(MPI_Request_free)(r(1), e)
  ! cancelled
  CALL(MPI_Irecv)(b, 8, MPI_INTEGER, left, 99, MPI_COMM_WORLD, q, e)
  CALL(MPI_Cancel)(q, e)
  CALL(MPI_Wait)(q, s, e)
  CALL(MPI_Test_cancelled)(s, flag, e)
  call check(flag, 'Test_cancelled')
  CALL(MPI_Recv)(b, 0, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, s, e)
  call detach
  CALL(MPI_Finalize)(e)
  call print_counts(me)
contains
  subroutine detach
#ifdef USE_MPI_F08
    use iso_c_binding, only: c_ptr
    type(c_ptr) :: old
#else
    integer :: old(2)
#endif
    CALL(MPI_Buffer_detach)(old, bsize, e)
  end subroutine
end program
