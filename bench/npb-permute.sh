#!/usr/bin/env bash
# Copies the sources of NPB3.4-MPI and changes the copy: if CAIRN_PERMUTE is set, the program's world
# is a communicator with its ranks in another order.
#   bench/npb-permute.sh NPB3.4-MPI DIR
set -euo pipefail
copy=$2
cp -r "$1/." "$copy"
chmod -R u+w "$copy"
# every use of the world, except in the code that makes the other one, right after MPI_Init
for kernel in BT SP LU CG MG; do
  sed -i -E 's/mpi_comm_world/world_here/Ig' "$copy/$kernel"/*.f
  sed -i -E "s/^( *)include 'mpif.h'/&\n\1integer world_here/" "$copy/$kernel/mpinpb.f"
  sed -i -E 's/^ *call mpi_init\(.*/&\n      call make_world(world_here)/I' "$copy/$kernel"/*.f
  cat "$copy/$kernel/mpinpb.f" - >"$copy/$kernel/mpinpb.new" <<'FORTRAN'

      subroutine make_world(world_here)
      include 'mpif.h'
      integer world_here, me, key, stat, error
      character*8 value
      world_here = MPI_COMM_WORLD
      call get_environment_variable('CAIRN_PERMUTE', value, status=stat)
      if (stat .ne. 0) return
      call MPI_Comm_rank(MPI_COMM_WORLD, me, error)
      key = mod((me + 11) * (me + 17) * 7919, 10007)
      call MPI_Comm_split(MPI_COMM_WORLD, 0, key, world_here, error)
      end
FORTRAN
  mv "$copy/$kernel/mpinpb.new" "$copy/$kernel/mpinpb.f"
done
