! What hangs on objects: attributes, error handlers, info, names of services; generalized requests; errors; time.
#include "binding.h"
module callbacks
  USE_BINDING
  use counted_calls
  implicit none
  INCLUDE_BINDING
contains
#define COPY(name, kind) subroutine name(old, keyval, extra, in, out, flag, e); kind :: old; integer :: keyval, e, k; integer(MPI_ADDRESS_KIND) :: extra, in, out; logical :: flag
#define DELETE(name, kind) subroutine name(object, keyval, value, extra, e); kind :: object; integer :: keyval, e, k; integer(MPI_ADDRESS_KIND) :: value, extra
  COPY(copy_comm, COMM)
    CALL(MPI_Comm_rank)(MPI_COMM_WORLD, k, e) ! a call inside a callback is a call of the program
    out = in + 1
    flag = .true.
    e = MPI_SUCCESS
  end subroutine
  DELETE(delete_comm, COMM)
    CALL(MPI_Comm_rank)(MPI_COMM_WORLD, k, e)
    e = MPI_SUCCESS
  end subroutine
  COPY(copy_type, DATATYPE)
    out = in
    flag = .true.
    e = MPI_SUCCESS
  end subroutine
  DELETE(delete_type, DATATYPE)
    e = MPI_SUCCESS
  end subroutine
  COPY(copy_win, WIN)
    out = in
    flag = .true.
    e = MPI_SUCCESS
  end subroutine
  DELETE(delete_win, WIN)
    e = MPI_SUCCESS
  end subroutine
  subroutine copy_old(old, keyval, extra, in, out, flag, e)
    integer :: old, keyval, extra, in, out, e
    logical :: flag
    out = in
    flag = .true.
    e = MPI_SUCCESS
  end subroutine
  subroutine delete_old(object, keyval, value, extra, e)
    integer :: object, keyval, value, extra, e
    e = MPI_SUCCESS
  end subroutine
  subroutine on_comm(object, code)
    COMM :: object
    integer :: code, k, e
    CALL(MPI_Error_class)(code, k, e)
  end subroutine
  subroutine on_old(object, code)
    integer :: object, code
  end subroutine
  subroutine on_win(object, code)
    WIN :: object
    integer :: code
  end subroutine
  subroutine on_file(object, code)
    FILE :: object
    integer :: code
  end subroutine
  subroutine query_request(extra, s, e)
    integer(MPI_ADDRESS_KIND) :: extra
    STATUS(s)
    integer :: e
    CALL(MPI_Status_set_elements)(s, MPI_INTEGER, 3, e)
    CALL(MPI_Status_set_cancelled)(s, .false., e)
    e = MPI_SUCCESS
  end subroutine
  subroutine free_request(extra, e)
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: e
    e = MPI_SUCCESS
  end subroutine
  subroutine cancel_request(extra, complete, e)
    integer(MPI_ADDRESS_KIND) :: extra
    logical :: complete
    integer :: e
    e = MPI_SUCCESS
  end subroutine
end module

program objects
  use callbacks
  implicit none
  integer, parameter :: aint = MPI_ADDRESS_KIND
  integer :: e, me, n, k, key, value, buffer(16), major, minor
  integer(aint) :: v, extra
  logical :: flag
  double precision :: t
  COMM :: c
  DATATYPE :: d, d2
  WIN :: w
  FILE :: f
  ERRHANDLER :: h, h2
  INFO :: i, i2
  REQUEST :: q
  STATUS(s)
  character(len=MPI_MAX_ERROR_STRING) :: text
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
  character(len=MPI_MAX_PORT_NAME) :: port, found
  CALL(MPI_Init)(e)
  CALL(MPI_Comm_rank)(MPI_COMM_WORLD, me, e)
  CALL(MPI_Get_version)(major, minor, e)
  CALL(MPI_Get_library_version)(version, k, e)
  COUNTED(MPI_Wtime)
  t = MPI_Wtime()
  COUNTED(MPI_Wtick)
  t = t + MPI_Wtick()
  CALL(MPI_Pcontrol)(1)
#ifndef WITH_mpich
  call MPI_F_sync_reg(buffer) ! MPICH 4.0's writes an error code to an argument that there is not
#endif
  ! attributes of communicators
  extra = 42
  CALL(MPI_Comm_create_keyval)(copy_comm, delete_comm, key, extra, e)
  v = 77
  CALL(MPI_Comm_set_attr)(MPI_COMM_WORLD, key, v, e)
  CALL(MPI_Comm_dup)(MPI_COMM_WORLD, c, e)
  CALL(MPI_Comm_get_attr)(c, key, v, flag, e)
  call check(flag .and. v == 78, 'Comm_get_attr')
  CALL(MPI_Comm_delete_attr)(c, key, e)
  CALL(MPI_Comm_get_attr)(c, key, v, flag, e)
  call check(.not. flag, 'Comm_get_attr of nothing')
  CALL(MPI_Comm_get_attr)(c, MPI_TAG_UB, v, flag, e)
  call check(flag .and. v >= 32767, 'the attribute MPI_TAG_UB')
  CALL(MPI_Comm_free)(c, e)
  CALL(MPI_Comm_delete_attr)(MPI_COMM_WORLD, key, e)
  CALL(MPI_Comm_free_keyval)(key, e)
  CALL(MPI_Comm_create_keyval)(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, extra, e)
  CALL(MPI_Comm_free_keyval)(key, e)
  ! of datatypes
  CALL(MPI_Type_create_keyval)(copy_type, delete_type, key, extra, e)
  CALL(MPI_Type_contiguous)(2, MPI_INTEGER, d, e)
  CALL(MPI_Type_set_attr)(d, key, v, e)
  CALL(MPI_Type_get_attr)(d, key, v, flag, e)
  CALL(MPI_Type_dup)(d, d2, e)
  CALL(MPI_Type_delete_attr)(d, key, e)
  CALL(MPI_Type_free)(d, e)
  CALL(MPI_Type_free)(d2, e)
  CALL(MPI_Type_free_keyval)(key, e)
  ! of windows
  CALL(MPI_Win_create)(buffer, 64_aint, 4, MPI_INFO_NULL, MPI_COMM_WORLD, w, e)
  CALL(MPI_Win_create_keyval)(copy_win, delete_win, key, extra, e)
  CALL(MPI_Win_set_attr)(w, key, v, e)
  CALL(MPI_Win_get_attr)(w, key, v, flag, e)
  CALL(MPI_Win_get_attr)(w, MPI_WIN_SIZE, v, flag, e)
  call check(flag .and. v == 64, 'the attribute MPI_WIN_SIZE')
  CALL(MPI_Win_delete_attr)(w, key, e)
  CALL(MPI_Win_free_keyval)(key, e)
#ifndef USE_MPI_F08
  ! deprecated in MPI 2.0
  CALL(MPI_Keyval_create)(copy_old, delete_old, key, 5, e)
  CALL(MPI_Attr_put)(MPI_COMM_SELF, key, 9, e)
  CALL(MPI_Attr_get)(MPI_COMM_SELF, key, value, flag, e)
  call check(flag .and. value == 9, 'Attr_get')
  CALL(MPI_Attr_delete)(MPI_COMM_SELF, key, e)
  CALL(MPI_Keyval_free)(key, e)
#endif
#ifdef MPIF_H
  CALL(MPI_Errhandler_create)(on_old, h, e)
  CALL(MPI_Errhandler_set)(MPI_COMM_SELF, h, e)
  CALL(MPI_Errhandler_get)(MPI_COMM_SELF, h2, e)
  CALL(MPI_Errhandler_free)(h2, e)
  CALL(MPI_Errhandler_free)(h, e)
#endif
  ! error handlers
  CALL(MPI_Comm_create_errhandler)(on_comm, h, e)
  CALL(MPI_Comm_set_errhandler)(MPI_COMM_WORLD, h, e)
  CALL(MPI_Comm_get_errhandler)(MPI_COMM_WORLD, h2, e)
  CALL(MPI_Comm_call_errhandler)(MPI_COMM_WORLD, MPI_ERR_ARG, e)
  CALL(MPI_Comm_set_errhandler)(MPI_COMM_WORLD, MPI_ERRORS_RETURN, e)
  CALL(MPI_Errhandler_free)(h2, e)
  CALL(MPI_Errhandler_free)(h, e)
  CALL(MPI_Send)(buffer, 1, MPI_INTEGER, 999, 0, MPI_COMM_WORLD, e)
  call check(e /= MPI_SUCCESS, 'a send to nobody')
  CALL(MPI_Error_class)(e, k, n)
  CALL(MPI_Error_string)(e, text, k, n)
  CALL(MPI_Win_create_errhandler)(on_win, h, e)
  CALL(MPI_Win_set_errhandler)(w, h, e)
  CALL(MPI_Win_get_errhandler)(w, h2, e)
  CALL(MPI_Win_call_errhandler)(w, MPI_ERR_ARG, e)
  CALL(MPI_Win_set_errhandler)(w, MPI_ERRORS_RETURN, e)
  CALL(MPI_Errhandler_free)(h2, e)
  CALL(MPI_Errhandler_free)(h, e)
  CALL(MPI_Win_free)(w, e)
  CALL(MPI_File_open)(MPI_COMM_SELF, '/dev/null', MPI_MODE_RDONLY, MPI_INFO_NULL, f, e)
  CALL(MPI_File_create_errhandler)(on_file, h, e)
  CALL(MPI_File_set_errhandler)(f, h, e)
  CALL(MPI_File_get_errhandler)(f, h2, e)
  CALL(MPI_File_call_errhandler)(f, MPI_ERR_ARG, e)
  CALL(MPI_Errhandler_free)(h2, e)
  CALL(MPI_Errhandler_free)(h, e)
  CALL(MPI_File_close)(f, e)
  CALL(MPI_Add_error_class)(k, e)
  CALL(MPI_Add_error_code)(k, n, e)
  CALL(MPI_Add_error_string)(n, 'an error of our own', e)
  ! info
  CALL(MPI_Info_create)(i, e)
  CALL(MPI_Info_set)(i, 'color', 'green', e)
  CALL(MPI_Info_set)(i, 'size', ' 12 ', e)
  CALL(MPI_Info_get_nkeys)(i, k, e)
  CALL(MPI_Info_get_nthkey)(i, 0, text, e)
  CALL(MPI_Info_get_valuelen)(i, 'color', k, flag, e)
  CALL(MPI_Info_get)(i, 'color', 20, text, flag, e)
  call check(flag .and. text(:5) == 'green', 'Info_get')
  CALL(MPI_Info_dup)(i, i2, e)
  CALL(MPI_Info_delete)(i2, 'color', e)
  CALL(MPI_Info_free)(i2, e)
  CALL(MPI_Info_free)(i, e)
  ! generalized requests
  CALL(MPI_Grequest_start)(query_request, free_request, cancel_request, extra, q, e)
  CALL(MPI_Grequest_complete)(q, e)
  CALL(MPI_Wait)(q, s, e)
  CALL(MPI_Get_count)(s, MPI_INTEGER, k, e)
  call check(k == 3, 'the count of a generalized request')
#ifdef WITH_mpich
  ! Open MPI's needs a name server that mpirun does not start
  CALL(MPI_Open_port)(MPI_INFO_NULL, port, e)
  CALL(MPI_Publish_name)('a service', MPI_INFO_NULL, port, e)
  CALL(MPI_Lookup_name)('a service', MPI_INFO_NULL, found, e)
  CALL(MPI_Unpublish_name)('a service', MPI_INFO_NULL, port, e)
  CALL(MPI_Close_port)(port, e)
#endif
  CALL(MPI_Finalize)(e)
  call print_counts(me)
end program
