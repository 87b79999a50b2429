! Datatypes, packing and addresses.
#include "binding.h"
program datatypes
  USE_BINDING
  use counted_calls
  implicit none
  INCLUDE_BINDING
  integer, parameter :: aint = MPI_ADDRESS_KIND, big = MPI_COUNT_KIND
  integer :: e, me, n, k, l, ni, na, nd, combiner, lengths(2), displs(2), ints(20), buf(100), packed(100), position
  integer(aint) :: lb, extent, at, a2(2), addresses(20), size_a, position_a
  integer(big) :: count_x, lb_x, extent_x
  DATATYPE :: t, u, types(2), inner(20)
  STATUS(s)
  character(len=MPI_MAX_OBJECT_NAME) :: name
#if defined(MPIF_H) && defined(WITH_mpich)
  integer(aint), external :: MPI_Aint_add, MPI_Aint_diff ! MPICH's mpif.h does not declare them
#endif
  CALL(MPI_Init)(e)
  CALL(MPI_Comm_rank)(MPI_COMM_WORLD, me, e)
  buf = me
  CALL(MPI_Type_contiguous)(3, MPI_INTEGER, t, e)
  CALL(MPI_Type_commit)(t, e)
  CALL(MPI_Type_size)(t, k, e)
  call check(k == 12, 'Type_size')
  CALL(MPI_Type_size_x)(t, count_x, e)
  CALL(MPI_Type_get_extent)(t, lb, extent, e)
  CALL(MPI_Type_get_true_extent)(t, lb, extent, e)
  CALL(MPI_Type_get_extent_x)(t, lb_x, extent_x, e)
  CALL(MPI_Type_get_true_extent_x)(t, lb_x, extent_x, e)
  CALL(MPI_Type_set_name)(t, 'three', e)
  CALL(MPI_Type_get_name)(t, name, l, e)
  call check(name == 'three', 'Type_get_name')
  CALL(MPI_Sendrecv)(buf, 1, t, MPI_PROC_NULL, 0, buf, 1, t, MPI_PROC_NULL, 0, MPI_COMM_WORLD, s, e)
  CALL(MPI_Status_set_elements)(s, t, 2, e)
  CALL(MPI_Get_elements_x)(s, MPI_INTEGER, count_x, e)
  count_x = 3
  CALL(MPI_Status_set_elements_x)(s, t, count_x, e)
  CALL(MPI_Status_set_cancelled)(s, .true., e)
  CALL(MPI_Type_dup)(t, u, e)
  CALL(MPI_Type_free)(u, e)
  CALL(MPI_Type_create_resized)(t, 0_aint, 16_aint, u, e)
  CALL(MPI_Type_get_envelope)(u, ni, na, nd, combiner, e)
  call check(na == 2 .and. combiner == MPI_COMBINER_RESIZED, 'Type_get_envelope')
  CALL(MPI_Type_get_contents)(u, ni, na, nd, ints, addresses, inner, e)
  CALL(MPI_Type_free)(inner(1), e)
  CALL(MPI_Type_free)(u, e)
  CALL(MPI_Type_free)(t, e)
  CALL(MPI_Type_vector)(3, 2, 4, MPI_INTEGER, t, e)
  CALL(MPI_Type_free)(t, e)
  CALL(MPI_Type_create_hvector)(3, 2, 16_aint, MPI_INTEGER, t, e)
  CALL(MPI_Type_free)(t, e)
  lengths = [1, 2]
  displs = [0, 3]
  a2 = [0_aint, 12_aint]
  types = [MPI_INTEGER, MPI_REAL]
  CALL(MPI_Type_indexed)(2, lengths, displs, MPI_INTEGER, t, e)
  CALL(MPI_Type_free)(t, e)
  CALL(MPI_Type_create_hindexed)(2, lengths, a2, MPI_INTEGER, t, e)
  CALL(MPI_Type_free)(t, e)
  CALL(MPI_Type_create_indexed_block)(2, 1, displs, MPI_INTEGER, t, e)
  CALL(MPI_Type_free)(t, e)
  CALL(MPI_Type_create_hindexed_block)(2, 1, a2, MPI_INTEGER, t, e)
  CALL(MPI_Type_free)(t, e)
  CALL(MPI_Type_create_struct)(2, lengths, a2, types, t, e)
  CALL(MPI_Type_free)(t, e)
  CALL(MPI_Type_create_subarray)(2, [4, 4], [2, 2], [1, 1], MPI_ORDER_FORTRAN, MPI_INTEGER, t, e)
  CALL(MPI_Type_free)(t, e)
  CALL(MPI_Type_create_darray)(2, 0, 2, [4, 4], [MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK], [MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG], [2, 1], MPI_ORDER_FORTRAN, MPI_INTEGER, t, e)
  CALL(MPI_Type_free)(t, e)
  CALL(MPI_Type_create_f90_integer)(9, t, e)
  CALL(MPI_Type_create_f90_real)(15, 300, t, e)
  CALL(MPI_Type_create_f90_complex)(6, 30, t, e)
  CALL(MPI_Type_match_size)(MPI_TYPECLASS_REAL, 8, t, e)
  ! packing
  position = 0
  CALL(MPI_Pack_size)(4, MPI_INTEGER, MPI_COMM_WORLD, k, e)
  CALL(MPI_Pack)(buf, 4, MPI_INTEGER, packed, 400, position, MPI_COMM_WORLD, e)
  position = 0
  CALL(MPI_Unpack)(packed, 400, position, buf, 4, MPI_INTEGER, MPI_COMM_WORLD, e)
  CALL(MPI_Pack_external_size)('external32', 4, MPI_INTEGER, size_a, e)
  position_a = 0
  size_a = 400
  CALL(MPI_Pack_external)('external32', buf, 4, MPI_INTEGER, packed, size_a, position_a, e)
  position_a = 0
  CALL(MPI_Unpack_external)('external32', packed, size_a, position_a, buf, 4, MPI_INTEGER, e)
  ! addresses
  CALL(MPI_Get_address)(buf, at, e)
  COUNTED(MPI_Aint_add)
  lb = MPI_Aint_add(at, 8_aint)
  COUNTED(MPI_Aint_diff)
  call check(MPI_Aint_diff(lb, at) == 8, 'Aint_diff')
#ifdef MPIF_H
  ! removed in MPI 3.0; neither module has them
  CALL(MPI_Address)(buf(1), k, e)
  CALL(MPI_Type_extent)(MPI_INTEGER, k, e)
  CALL(MPI_Type_lb)(MPI_INTEGER, k, e)
  CALL(MPI_Type_ub)(MPI_INTEGER, k, e)
  CALL(MPI_Type_hvector)(3, 2, 16, MPI_INTEGER, t, e)
  CALL(MPI_Type_free)(t, e)
  displs = [0, 12]
  CALL(MPI_Type_hindexed)(2, lengths, displs, MPI_INTEGER, t, e)
  CALL(MPI_Type_free)(t, e)
  CALL(MPI_Type_struct)(2, lengths, displs, types, t, e)
  CALL(MPI_Type_free)(t, e)
#endif
  CALL(MPI_Finalize)(e)
  call print_counts(me)
end program
