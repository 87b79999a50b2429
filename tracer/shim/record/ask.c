#include "ask.h"

#include "../bind/bind.h"
#include "../gen/prototypes_gen.h"

// ASK calls libmpi's own function; 0 is success.
#define ASK(name, ...) (CAIRN_INNER(name) != NULL && CAIRN_INNER(name)(__VA_ARGS__) == MPI_SUCCESS)

static bool is_inter(MPI_Comm comm)
{
	int inter = 0;
	return ASK(MPI_Comm_test_inter, comm, &inter) && inter;
}

int64_t cairn_ask_localsize(MPI_Comm comm)
{
	int size = 0;
	return comm != MPI_COMM_NULL && ASK(MPI_Comm_size, comm, &size) ? size : 0;
}

int64_t cairn_ask_size(MPI_Comm comm)
{
	int size = 0;
	if (comm != MPI_COMM_NULL && is_inter(comm))
		return ASK(MPI_Comm_remote_size, comm, &size) ? size : 0;
	return cairn_ask_localsize(comm);
}

int64_t cairn_ask_processes(MPI_Comm comm)
{
	int64_t n = cairn_ask_localsize(comm);
	if (comm != MPI_COMM_NULL && is_inter(comm))
		n += cairn_ask_size(comm);
	return n;
}

bool cairn_ask_root(MPI_Comm comm, int root)
{
	int rank = -1;
	if (root == MPI_ROOT)
		return true;
	if (root == MPI_PROC_NULL || comm == MPI_COMM_NULL || is_inter(comm))
		return false;
	return ASK(MPI_Comm_rank, comm, &rank) && rank == root;
}

static int topology(MPI_Comm comm)
{
	int status = MPI_UNDEFINED;
	if (comm == MPI_COMM_NULL || !ASK(MPI_Topo_test, comm, &status))
		return MPI_UNDEFINED;
	return status;
}

int64_t cairn_ask_ndims(MPI_Comm comm)
{
	int n = 0;
	return topology(comm) == MPI_CART && ASK(MPI_Cartdim_get, comm, &n) ? n : 0;
}

static void graph_dims(MPI_Comm comm, int *nodes, int *edges)
{
	*nodes = *edges = 0;
	if (topology(comm) != MPI_GRAPH || !ASK(MPI_Graphdims_get, comm, nodes, edges))
		*nodes = *edges = 0;
}

int64_t cairn_ask_nnodes(MPI_Comm comm)
{
	int nodes, edges;
	graph_dims(comm, &nodes, &edges);
	return nodes;
}

int64_t cairn_ask_nedges(MPI_Comm comm)
{
	int nodes, edges;
	graph_dims(comm, &nodes, &edges);
	return edges;
}

int64_t cairn_ask_neighbors(MPI_Comm comm, int rank)
{
	int n = 0, size = 0;
	if (topology(comm) != MPI_GRAPH || !ASK(MPI_Comm_size, comm, &size) || rank < 0 || rank >= size)
		return 0;
	return ASK(MPI_Graph_neighbors_count, comm, rank, &n) ? n : 0;
}

// degree returns the number of the caller's neighbors in a direction (MPI 4.0 8.6).
static int64_t degree(MPI_Comm comm, bool in)
{
	int rank = 0, sources = 0, destinations = 0, weighted = 0;
	switch (topology(comm)) {
	case MPI_CART:
		return 2 * cairn_ask_ndims(comm);
	case MPI_GRAPH:
		return ASK(MPI_Comm_rank, comm, &rank) ? cairn_ask_neighbors(comm, rank) : 0;
	case MPI_DIST_GRAPH:
		if (!ASK(MPI_Dist_graph_neighbors_count, comm, &sources, &destinations, &weighted))
			return 0;
		return in ? sources : destinations;
	}
	return 0;
}

int64_t cairn_ask_indegree(MPI_Comm comm)
{
	return degree(comm, true);
}

int64_t cairn_ask_outdegree(MPI_Comm comm)
{
	return degree(comm, false);
}

struct envelope {
	int64_t integers, addresses, counts, datatypes;
};

static struct envelope envelope(MPI_Datatype datatype)
{
	struct envelope e = {0, 0, 0, 0};
	if (datatype == MPI_DATATYPE_NULL)
		return e;
	if (CAIRN_INNER(MPI_Type_get_envelope_c) != NULL) {
		MPI_Count i = 0, a = 0, c = 0, d = 0;
		int combiner;
		if (ASK(MPI_Type_get_envelope_c, datatype, &i, &a, &c, &d, &combiner))
			e = (struct envelope){i, a, c, d};
	} else {
		int i = 0, a = 0, d = 0, combiner;
		if (ASK(MPI_Type_get_envelope, datatype, &i, &a, &d, &combiner))
			e = (struct envelope){i, a, 0, d};
	}
	return e;
}

int64_t cairn_ask_integers(MPI_Datatype datatype)
{
	return envelope(datatype).integers;
}

int64_t cairn_ask_addresses(MPI_Datatype datatype)
{
	return envelope(datatype).addresses;
}

int64_t cairn_ask_datatypes(MPI_Datatype datatype)
{
	return envelope(datatype).datatypes;
}

int64_t cairn_ask_counts(MPI_Datatype datatype)
{
	return envelope(datatype).counts;
}
