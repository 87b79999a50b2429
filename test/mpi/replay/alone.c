// One process that calls MPI with arguments of all forms: numbers, constants, handles, lists, texts, statuses. No call waits
// for another process, so that none hangs where its arguments are damaged.
#include <mpi.h>

int main(int argc, char **argv)
{
	int lengths[2] = {1, 2}, counts[1] = {2}, places[1] = {0}, bytes[4] = {0}, out[4], size, length, position = 0;
	MPI_Aint displacements[2] = {0, 8};
	char packed[64], name[MPI_MAX_OBJECT_NAME];
	MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE}, type;
	MPI_Group group, none;
	MPI_Comm comm;
	MPI_Info info;
	MPI_Request requests[2];

	MPI_Init(&argc, &argv);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_set_name(comm, "a communicator of its own");
	MPI_Comm_get_name(comm, name, &length);
	MPI_Info_create(&info);
	MPI_Info_set(info, "key", "value");
	MPI_Type_create_struct(2, lengths, displacements, types, &type);
	MPI_Type_commit(&type);
	MPI_Type_size(type, &size);
	MPI_Comm_group(comm, &group);
	MPI_Group_excl(group, 1, places, &none);
	MPI_Alltoallv(bytes, counts, places, MPI_INT, out, counts, places, MPI_INT, comm);
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, 4, MPI_INT, comm);
	MPI_Iallreduce(bytes, out, 4, MPI_INT, MPI_SUM, comm, &requests[0]);
	MPI_Ibarrier(comm, &requests[1]);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	MPI_Pack(bytes, 4, MPI_INT, packed, sizeof(packed), &position, comm);
	MPI_Group_free(&group);
	MPI_Type_free(&type);
	MPI_Info_free(&info);
	MPI_Comm_free(&comm);
	MPI_Finalize();
	return 0;
}
