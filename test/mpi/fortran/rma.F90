! Windows: all kinds of memory, all three synchronizations, all accesses.
#include "binding.h"
program rma
  USE_BINDING
  use counted_calls
  use iso_c_binding, only: c_ptr
  implicit none
  INCLUDE_BINDING
  integer, parameter :: aint = MPI_ADDRESS_KIND
  integer :: e, me, n, k, unit, right, left, length
  integer, asynchronous :: memory(64), a(8), b(8), c(8)
  integer(aint) :: bytes, d
  logical :: flag
  WIN :: w
  INFO :: i
  GROUP :: world, to, from
  REQUEST :: q
  character(len=MPI_MAX_OBJECT_NAME) :: name
#ifdef USE_MPI_F08
  type(c_ptr) :: base
#else
  integer(aint) :: base
#endif
  CALL(MPI_Init)(e)
  CALL(MPI_Comm_rank)(MPI_COMM_WORLD, me, e)
  CALL(MPI_Comm_size)(MPI_COMM_WORLD, n, e)
  right = mod(me + 1, n)
  left = mod(me + n - 1, n)
  memory = 0
  a = me + 1
  bytes = 256
  d = 0
  CALL(MPI_Win_create)(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, w, e)
  CALL(MPI_Win_set_name)(w, 'memory', e)
  CALL(MPI_Win_get_name)(w, name, length, e)
  CALL(MPI_Win_get_info)(w, i, e)
  CALL(MPI_Win_set_info)(w, i, e)
  CALL(MPI_Info_free)(i, e)
  ! fence
  CALL(MPI_Win_fence)(0, w, e)
  CALL(MPI_Put)(a, 8, MPI_INTEGER, right, d, 8, MPI_INTEGER, w, e)
  CALL(MPI_Win_fence)(0, w, e)
  call check(memory(1) == left + 1, 'what was put')
  CALL(MPI_Get)(b, 8, MPI_INTEGER, right, d, 8, MPI_INTEGER, w, e)
  CALL(MPI_Win_fence)(0, w, e)
  CALL(MPI_Accumulate)(a, 8, MPI_INTEGER, right, d, 8, MPI_INTEGER, MPI_SUM, w, e)
  CALL(MPI_Win_fence)(0, w, e)
  CALL(MPI_Get_accumulate)(a, 8, MPI_INTEGER, b, 8, MPI_INTEGER, right, d, 8, MPI_INTEGER, MPI_SUM, w, e)
  CALL(MPI_Win_fence)(0, w, e)
  CALL(MPI_Fetch_and_op)(a, b, MPI_INTEGER, right, d, MPI_SUM, w, e)
  CALL(MPI_Win_fence)(0, w, e)
  CALL(MPI_Compare_and_swap)(a, c, b, MPI_INTEGER, right, d, w, e)
  CALL(MPI_Win_fence)(0, w, e)
  ! post, start, complete, wait
  CALL(MPI_Win_get_group)(w, world, e)
  CALL(MPI_Group_incl)(world, 1, [right], to, e)
  CALL(MPI_Group_incl)(world, 1, [left], from, e)
  CALL(MPI_Win_post)(from, 0, w, e)
  CALL(MPI_Win_start)(to, 0, w, e)
  CALL(MPI_Put)(a, 8, MPI_INTEGER, right, d, 8, MPI_INTEGER, w, e)
  CALL(MPI_Win_complete)(w, e)
  CALL(MPI_Win_wait)(w, e)
  CALL(MPI_Win_post)(from, 0, w, e)
  CALL(MPI_Win_start)(to, 0, w, e)
  CALL(MPI_Win_complete)(w, e)
  do
    CALL(MPI_Win_test)(w, flag, e)
    if (flag) exit
  end do
  CALL(MPI_Group_free)(to, e)
  CALL(MPI_Group_free)(from, e)
  CALL(MPI_Group_free)(world, e)
  ! locks
  CALL(MPI_Win_lock)(MPI_LOCK_EXCLUSIVE, right, 0, w, e)
  CALL(MPI_Put)(a, 8, MPI_INTEGER, right, d, 8, MPI_INTEGER, w, e)
  CALL(MPI_Win_flush)(right, w, e)
  CALL(MPI_Win_flush_local)(right, w, e)
  CALL(MPI_Win_unlock)(right, w, e)
  CALL(MPI_Win_lock_all)(0, w, e)
  CALL(MPI_Rput)(a, 8, MPI_INTEGER, right, d, 8, MPI_INTEGER, w, q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Win_flush_all)(w, e)
  CALL(MPI_Rget)(b, 8, MPI_INTEGER, right, d, 8, MPI_INTEGER, w, q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Raccumulate)(a, 8, MPI_INTEGER, right, d, 8, MPI_INTEGER, MPI_SUM, w, q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Win_flush_local_all)(w, e)
  CALL(MPI_Rget_accumulate)(a, 8, MPI_INTEGER, b, 8, MPI_INTEGER, right, d, 8, MPI_INTEGER, MPI_SUM, w, q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Win_sync)(w, e)
  CALL(MPI_Win_unlock_all)(w, e)
  CALL(MPI_Barrier)(MPI_COMM_WORLD, e)
  CALL(MPI_Win_free)(w, e)
  ! memory of MPI
  CALL(MPI_Win_allocate)(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, w, e)
  CALL(MPI_Win_free)(w, e)
  CALL(MPI_Win_allocate_shared)(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, w, e)
  CALL(MPI_Win_shared_query)(w, right, bytes, unit, base, e)
  call check(bytes == 256 .and. unit == 4, 'Win_shared_query')
  CALL(MPI_Win_free)(w, e)
  CALL(MPI_Win_create_dynamic)(MPI_INFO_NULL, MPI_COMM_WORLD, w, e)
  CALL(MPI_Win_attach)(w, memory, bytes, e)
  CALL(MPI_Win_detach)(w, memory, e)
  CALL(MPI_Win_free)(w, e)
  call allocate_and_free
  CALL(MPI_Finalize)(e)
  call print_counts(me)
contains
  subroutine allocate_and_free
#ifdef USE_MPI_F08
    use iso_c_binding
    integer, pointer :: x(:)
    CALL(MPI_Alloc_mem)(bytes, MPI_INFO_NULL, base, e)
    call c_f_pointer(base, x, [8])
    CALL(MPI_Free_mem)(x, e)
#else
    integer :: x(2)
    integer(aint) :: address
    pointer (address, x)
    CALL(MPI_Alloc_mem)(bytes, MPI_INFO_NULL, address, e)
    CALL(MPI_Free_mem)(x, e)
#endif
  end subroutine
end program
