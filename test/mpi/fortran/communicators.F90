! Communicators, groups and topologies.
#include "binding.h"
program communicators
  USE_BINDING
  use counted_calls
  implicit none
  INCLUDE_BINDING
  integer :: e, me, n, k, level, ranks(8), others(8), range(3, 1), dims(2), coords(2), in, out, nodes, edges
  integer :: index(8), neighbors(8), one(1), degree(1), w(8), wo(8), length
  logical :: flag, periods(2), remain(2)
  COMM :: a, b, c, cart, graph, inter
  GROUP :: world, g, h, u
  INFO :: i
  REQUEST :: q
  character(len=MPI_MAX_OBJECT_NAME) :: name
  CALL(MPI_Init_thread)(MPI_THREAD_FUNNELED, level, e)
  CALL(MPI_Query_thread)(level, e)
  CALL(MPI_Is_thread_main)(flag, e)
  CALL(MPI_Initialized)(flag, e)
  CALL(MPI_Finalized)(flag, e)
  CALL(MPI_Comm_rank)(MPI_COMM_WORLD, me, e)
  CALL(MPI_Comm_size)(MPI_COMM_WORLD, n, e)
  ! groups
  CALL(MPI_Comm_group)(MPI_COMM_WORLD, world, e)
  CALL(MPI_Group_size)(world, k, e)
  CALL(MPI_Group_rank)(world, k, e)
  ranks(1) = 0
  CALL(MPI_Group_incl)(world, 1, ranks, g, e)
  CALL(MPI_Group_excl)(world, 1, ranks, h, e)
  CALL(MPI_Group_union)(g, h, u, e)
  CALL(MPI_Group_compare)(world, u, k, e)
  CALL(MPI_Group_translate_ranks)(u, 1, ranks, world, others, e)
  call check(others(1) == 0, 'Group_translate_ranks')
  CALL(MPI_Group_free)(u, e)
  CALL(MPI_Group_intersection)(world, g, u, e)
  CALL(MPI_Group_free)(u, e)
  CALL(MPI_Group_difference)(world, g, u, e)
  CALL(MPI_Group_free)(u, e)
  range(:, 1) = [0, n - 1, 2]
  CALL(MPI_Group_range_incl)(world, 1, range, u, e)
  CALL(MPI_Group_free)(u, e)
  CALL(MPI_Group_range_excl)(world, 1, range, u, e)
  CALL(MPI_Group_free)(u, e)
  ! communicators
  CALL(MPI_Comm_dup)(MPI_COMM_WORLD, a, e)
  CALL(MPI_Comm_compare)(a, MPI_COMM_WORLD, k, e)
  CALL(MPI_Comm_set_name)(a, 'a copy', e)
  CALL(MPI_Comm_get_name)(a, name, length, e)
  call check(name == 'a copy' .and. length == 6, 'Comm_get_name')
  CALL(MPI_Comm_create)(a, h, b, e)
  if (me > 0) then
    CALL(MPI_Comm_create_group)(a, h, 5, c, e)
    CALL(MPI_Comm_free)(c, e)
    CALL(MPI_Comm_free)(b, e)
  end if
  CALL(MPI_Info_create)(i, e)
  CALL(MPI_Comm_dup_with_info)(a, i, b, e)
  CALL(MPI_Comm_set_info)(b, i, e)
  CALL(MPI_Info_free)(i, e)
  CALL(MPI_Comm_get_info)(b, i, e)
  CALL(MPI_Info_free)(i, e)
  CALL(MPI_Comm_free)(b, e)
  CALL(MPI_Comm_idup)(a, b, q, e)
  CALL(MPI_Wait)(q, MPI_STATUS_IGNORE, e)
  CALL(MPI_Comm_free)(b, e)
  CALL(MPI_Comm_split_type)(a, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, b, e)
  CALL(MPI_Comm_free)(b, e)
  ! between the even and the odd ranks
  CALL(MPI_Comm_split)(a, mod(me, 2), me, b, e)
  CALL(MPI_Intercomm_create)(b, 0, MPI_COMM_WORLD, 1 - mod(me, 2), 3, inter, e)
  CALL(MPI_Comm_test_inter)(inter, flag, e)
  call check(flag, 'Comm_test_inter')
  CALL(MPI_Comm_remote_size)(inter, k, e)
  CALL(MPI_Comm_remote_group)(inter, u, e)
  CALL(MPI_Group_free)(u, e)
  CALL(MPI_Intercomm_merge)(inter, .false., c, e)
  CALL(MPI_Comm_disconnect)(c, e)
  CALL(MPI_Comm_free)(inter, e)
  CALL(MPI_Comm_free)(b, e)
  CALL(MPI_Comm_get_parent)(b, e)
  ! topologies
  dims = 0
  CALL(MPI_Dims_create)(n, 2, dims, e)
  periods = [.true., .false.]
  CALL(MPI_Cart_map)(MPI_COMM_WORLD, 2, dims, periods, k, e)
  CALL(MPI_Cart_create)(MPI_COMM_WORLD, 2, dims, periods, .false., cart, e)
  CALL(MPI_Topo_test)(cart, k, e)
  call check(k == MPI_CART, 'Topo_test')
  CALL(MPI_Cartdim_get)(cart, k, e)
  CALL(MPI_Cart_get)(cart, 2, dims, periods, coords, e)
  CALL(MPI_Cart_rank)(cart, coords, k, e)
  CALL(MPI_Cart_coords)(cart, me, 2, coords, e)
  CALL(MPI_Cart_shift)(cart, 0, 1, in, out, e)
  remain = [.true., .false.]
  CALL(MPI_Cart_sub)(cart, remain, b, e)
  CALL(MPI_Comm_free)(b, e)
  CALL(MPI_Comm_free)(cart, e)
  index(1:2) = [1, 2]
  neighbors(1:2) = [1, 0]
  CALL(MPI_Graph_map)(MPI_COMM_WORLD, 2, index, neighbors, k, e)
  CALL(MPI_Graph_create)(MPI_COMM_WORLD, 2, index, neighbors, .false., graph, e)
  if (me < 2) then
    CALL(MPI_Graphdims_get)(graph, nodes, edges, e)
    CALL(MPI_Graph_get)(graph, 2, 2, index, neighbors, e)
    CALL(MPI_Graph_neighbors_count)(graph, me, k, e)
    CALL(MPI_Graph_neighbors)(graph, me, 1, neighbors, e)
    CALL(MPI_Comm_free)(graph, e)
  end if
  one = me
  degree = 1
  ranks(1) = mod(me + 1, n)
  w = 7
  CALL(MPI_Dist_graph_create)(MPI_COMM_WORLD, 1, one, degree, ranks, w, MPI_INFO_NULL, .false., graph, e)
  CALL(MPI_Dist_graph_neighbors_count)(graph, in, out, flag, e)
  CALL(MPI_Dist_graph_neighbors)(graph, 1, ranks, w, 1, others, wo, e)
  CALL(MPI_Comm_free)(graph, e)
  CALL(MPI_Dist_graph_create)(MPI_COMM_WORLD, 1, one, degree, ranks, MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph, e)
  CALL(MPI_Comm_free)(graph, e)
  CALL(MPI_Comm_free)(a, e)
  CALL(MPI_Group_free)(world, e)
  CALL(MPI_Group_free)(g, e)
  CALL(MPI_Group_free)(h, e)
  CALL(MPI_Finalize)(e)
  call print_counts(me)
end program
