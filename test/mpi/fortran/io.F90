! Files: every way to read and write.
#include "binding.h"
program io
  USE_BINDING
  use counted_calls
  implicit none
  INCLUDE_BINDING
  integer, parameter :: off = MPI_OFFSET_KIND
  integer :: e, me, n, k, mode
  integer, asynchronous :: a(4), b(4)
  integer(off) :: at, there
  integer(MPI_ADDRESS_KIND) :: extent
  logical :: flag
  FILE :: f
  GROUP :: g
  INFO :: i
  DATATYPE :: t, ft
  REQUEST :: q
  STATUS(s)
  character(len=200) :: path, representation
  CALL(MPI_Init)(e)
  CALL(MPI_Comm_rank)(MPI_COMM_WORLD, me, e)
  CALL(MPI_Comm_size)(MPI_COMM_WORLD, n, e)
  call get_environment_variable('CAIRN_TEST_FILE', path)
  if (path == '') path = 'io.data'
  a = me
  at = 16 * me
  CALL(MPI_File_open)(MPI_COMM_WORLD, path, MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, f, e)
  call check(e == MPI_SUCCESS, 'File_open')
  CALL(MPI_File_set_size)(f, 0_off, e)
  CALL(MPI_File_preallocate)(f, 64_off, e)
  CALL(MPI_File_get_size)(f, there, e)
  CALL(MPI_File_get_amode)(f, mode, e)
  CALL(MPI_File_get_group)(f, g, e)
  CALL(MPI_Group_free)(g, e)
  CALL(MPI_File_get_info)(f, i, e)
  CALL(MPI_File_set_info)(f, i, e)
  CALL(MPI_Info_free)(i, e)
  CALL(MPI_File_get_type_extent)(f, MPI_INTEGER, extent, e)
  CALL(MPI_File_set_atomicity)(f, .true., e)
  CALL(MPI_File_get_atomicity)(f, flag, e)
  CALL(MPI_File_set_atomicity)(f, .false., e)
  CALL(MPI_File_set_view)(f, 0_off, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, e)
  CALL(MPI_File_get_view)(f, there, t, ft, representation, e)
  call check(representation == 'native', 'File_get_view')
  CALL(MPI_File_set_view)(f, 0_off, MPI_BYTE, MPI_BYTE, 'native', MPI_INFO_NULL, e)
  do k = 1, 2
    CALL(MPI_File_write_at)(f, at, a, 4, MPI_INTEGER, s, e)
    CALL(MPI_File_write_at_all)(f, at, a, 4, MPI_INTEGER, MPI_STATUS_IGNORE, e)
    CALL(MPI_File_iwrite_at)(f, at, a, 4, MPI_INTEGER, q, e)
    CALL(MPI_Wait)(q, s, e)
    CALL(MPI_File_iwrite_at_all)(f, at, a, 4, MPI_INTEGER, q, e)
    CALL(MPI_Wait)(q, s, e)
    CALL(MPI_File_write_at_all_begin)(f, at, a, 4, MPI_INTEGER, e)
    CALL(MPI_File_write_at_all_end)(f, a, s, e)
    CALL(MPI_File_seek)(f, at, MPI_SEEK_SET, e)
    CALL(MPI_File_get_position)(f, there, e)
    CALL(MPI_File_get_byte_offset)(f, there, there, e)
    CALL(MPI_File_write)(f, a, 4, MPI_INTEGER, s, e)
    CALL(MPI_File_seek)(f, at, MPI_SEEK_SET, e)
    CALL(MPI_File_write_all)(f, a, 4, MPI_INTEGER, s, e)
    CALL(MPI_File_seek)(f, at, MPI_SEEK_SET, e)
    CALL(MPI_File_write_all_begin)(f, a, 4, MPI_INTEGER, e)
    CALL(MPI_File_write_all_end)(f, a, s, e)
    CALL(MPI_File_seek)(f, at, MPI_SEEK_SET, e)
    CALL(MPI_File_iwrite)(f, a, 4, MPI_INTEGER, q, e)
    CALL(MPI_Wait)(q, s, e)
    CALL(MPI_File_seek)(f, at, MPI_SEEK_SET, e)
    CALL(MPI_File_iwrite_all)(f, a, 4, MPI_INTEGER, q, e)
    CALL(MPI_Wait)(q, s, e)
    CALL(MPI_File_seek_shared)(f, 0_off, MPI_SEEK_SET, e)
    CALL(MPI_File_get_position_shared)(f, there, e)
    CALL(MPI_File_write_shared)(f, a, 4, MPI_INTEGER, s, e)
    CALL(MPI_File_iwrite_shared)(f, a, 4, MPI_INTEGER, q, e)
    CALL(MPI_Wait)(q, s, e)
    CALL(MPI_File_write_ordered)(f, a, 4, MPI_INTEGER, s, e)
    CALL(MPI_File_write_ordered_begin)(f, a, 4, MPI_INTEGER, e)
    CALL(MPI_File_write_ordered_end)(f, a, s, e)
    CALL(MPI_File_sync)(f, e)
    CALL(MPI_File_read_at)(f, at, b, 4, MPI_INTEGER, s, e)
    CALL(MPI_File_read_at_all)(f, at, b, 4, MPI_INTEGER, MPI_STATUS_IGNORE, e)
    CALL(MPI_File_iread_at)(f, at, b, 4, MPI_INTEGER, q, e)
    CALL(MPI_Wait)(q, s, e)
    CALL(MPI_File_iread_at_all)(f, at, b, 4, MPI_INTEGER, q, e)
    CALL(MPI_Wait)(q, s, e)
    CALL(MPI_File_read_at_all_begin)(f, at, b, 4, MPI_INTEGER, e)
    CALL(MPI_File_read_at_all_end)(f, b, s, e)
    CALL(MPI_File_seek)(f, at, MPI_SEEK_SET, e)
    CALL(MPI_File_get_position)(f, there, e)
    CALL(MPI_File_get_byte_offset)(f, there, there, e)
    CALL(MPI_File_read)(f, b, 4, MPI_INTEGER, s, e)
    CALL(MPI_File_seek)(f, at, MPI_SEEK_SET, e)
    CALL(MPI_File_read_all)(f, b, 4, MPI_INTEGER, s, e)
    CALL(MPI_File_seek)(f, at, MPI_SEEK_SET, e)
    CALL(MPI_File_read_all_begin)(f, b, 4, MPI_INTEGER, e)
    CALL(MPI_File_read_all_end)(f, b, s, e)
    CALL(MPI_File_seek)(f, at, MPI_SEEK_SET, e)
    CALL(MPI_File_iread)(f, b, 4, MPI_INTEGER, q, e)
    CALL(MPI_Wait)(q, s, e)
    CALL(MPI_File_seek)(f, at, MPI_SEEK_SET, e)
    CALL(MPI_File_iread_all)(f, b, 4, MPI_INTEGER, q, e)
    CALL(MPI_Wait)(q, s, e)
    CALL(MPI_File_seek_shared)(f, 0_off, MPI_SEEK_SET, e)
    CALL(MPI_File_get_position_shared)(f, there, e)
    CALL(MPI_File_read_shared)(f, b, 4, MPI_INTEGER, s, e)
    CALL(MPI_File_iread_shared)(f, b, 4, MPI_INTEGER, q, e)
    CALL(MPI_Wait)(q, s, e)
    CALL(MPI_File_read_ordered)(f, b, 4, MPI_INTEGER, s, e)
    CALL(MPI_File_read_ordered_begin)(f, b, 4, MPI_INTEGER, e)
    CALL(MPI_File_read_ordered_end)(f, b, s, e)
    CALL(MPI_File_sync)(f, e)
  end do
  CALL(MPI_File_close)(f, e)
  CALL(MPI_Barrier)(MPI_COMM_WORLD, e)
  if (me == 0) then
    CALL(MPI_File_delete)(path, MPI_INFO_NULL, e)
  end if
  CALL(MPI_Finalize)(e)
  call print_counts(me)
end program
