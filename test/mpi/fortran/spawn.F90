! Dynamic processes: spawned worlds, and a connection through a port.
#include "binding.h"
program spawn
  USE_BINDING
  use counted_calls
  implicit none
  INCLUDE_BINDING
  integer :: e, me, errors(4)
  logical :: first
  COMM :: parent, child, other
  INFO :: infos(2)
  character(len=200) :: program_path, commands(2), arguments(2), lists(2, 2)
  character(len=MPI_MAX_PORT_NAME) :: port
  CALL(MPI_Init)(e)
  CALL(MPI_Comm_rank)(MPI_COMM_WORLD, me, e)
  CALL(MPI_Comm_get_parent)(parent, e)
  first = parent == MPI_COMM_NULL
  if (first) then
    call get_command_argument(0, program_path)
    arguments = [character(len=200) :: 'child', '']
    CALL(MPI_Comm_spawn)(program_path, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, child, errors, e)
    CALL(MPI_Comm_disconnect)(child, e)
    commands = program_path
    lists = ''
    lists(:, 1) = 'child'
    infos = MPI_INFO_NULL
    CALL(MPI_Comm_spawn_multiple)(2, commands, lists, [1, 1], infos, 0, MPI_COMM_WORLD, child, MPI_ERRCODES_IGNORE, e)
    CALL(MPI_Comm_disconnect)(child, e)
    ! a connection between our own ranks
    CALL(MPI_Comm_split)(MPI_COMM_WORLD, me, 0, other, e)
    if (me == 0) then
      CALL(MPI_Open_port)(MPI_INFO_NULL, port, e)
      CALL(MPI_Send)(port, MPI_MAX_PORT_NAME, MPI_CHARACTER, 1, 0, MPI_COMM_WORLD, e)
      CALL(MPI_Comm_accept)(port, MPI_INFO_NULL, 0, other, child, e)
      CALL(MPI_Comm_disconnect)(child, e)
      CALL(MPI_Close_port)(port, e)
    else if (me == 1) then
      CALL(MPI_Recv)(port, MPI_MAX_PORT_NAME, MPI_CHARACTER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, e)
      CALL(MPI_Comm_connect)(port, MPI_INFO_NULL, 0, other, child, e)
      CALL(MPI_Comm_disconnect)(child, e)
    end if
    CALL(MPI_Comm_free)(other, e)
  else
    CALL(MPI_Comm_disconnect)(parent, e)
  end if
  CALL(MPI_Finalize)(e)
  if (first) call print_counts(me)
end program
