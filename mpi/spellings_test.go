package mpi

// spelling is a difference between the declarations of a parameter in mpi.h and in the standard.
type spelling struct {
	theirs, ours string // in normal form
	functions    []string
}

// mpichSpellings are those of MPICH 4.0.2. MPI_Precv_init has the wrong name for its source.
var mpichSpellings = []spelling{
	{"int * indx", "int * index", []string{"MPI_Waitany", "MPI_Testany"}},
	{"int dest", "int source", []string{"MPI_Precv_init"}},
	{"const int indx []", "const int index []", []string{"MPI_Graph_create", "MPI_Graph_map"}},
	{"int indx []", "int index []", []string{"MPI_Graph_get"}},
	{"const char datarep []", "const char * datarep", []string{"MPI_Unpack_external", "MPI_Unpack_external_c"}},
	{"const int level", "int level", []string{"MPI_Pcontrol"}},
	{"int indx", "int index", []string{"MPI_T_enum_get_item"}},
	{"MPI_Fint * f_status", "MPI_Fint f_status []", []string{"MPI_Status_c2f", "MPI_Status_f082f"}},
	{"const MPI_Fint * f_status", "const MPI_Fint f_status []", []string{"MPI_Status_f2c", "MPI_Status_f2f08"}},
}

// openMPISpellings are those of Open MPI 4.1.4, where MPI_Fint is a macro for int.
var openMPISpellings = []spelling{
	{"const void * ibuf", "const void * buf", []string{"MPI_Rsend"}},
	{"MPI_Status * array_of_statuses", "MPI_Status array_of_statuses []", []string{"MPI_Waitall"}},
	{"MPI_Datatype type", "MPI_Datatype datatype", []string{"MPI_Mrecv", "MPI_Imrecv", "MPI_Type_set_name", "MPI_Type_get_name", "MPI_Type_set_attr", "MPI_Type_get_attr", "MPI_Type_delete_attr", "MPI_Type_size", "MPI_Type_size_x", "MPI_Type_get_extent", "MPI_Type_get_extent_x", "MPI_Type_get_envelope"}},
	{"void * buffer", "void * buffer_addr", []string{"MPI_Buffer_detach"}},
	{"MPI_User_function * function", "MPI_User_function * user_fn", []string{"MPI_Op_create"}},
	{"MPI_Comm bridge_comm", "MPI_Comm peer_comm", []string{"MPI_Intercomm_create"}},
	{"MPI_Comm * newintercomm", "MPI_Comm * newintracomm", []string{"MPI_Intercomm_merge"}},
	{"void * attr_val", "void * attribute_val", []string{"MPI_Type_set_attr"}},
	{"MPI_Comm old_comm", "MPI_Comm comm_old", []string{"MPI_Cart_create"}},
	{"const int nodes []", "const int sources []", []string{"MPI_Dist_graph_create"}},
	{"const int targets []", "const int destinations []", []string{"MPI_Dist_graph_create"}},
	{"MPI_Comm * newcomm", "MPI_Comm * comm_dist_graph", []string{"MPI_Dist_graph_create"}},
	{"int * inneighbors", "int * indegree", []string{"MPI_Dist_graph_neighbors_count"}},
	{"int * outneighbors", "int * outdegree", []string{"MPI_Dist_graph_neighbors_count"}},
	{"MPI_Comm * new_comm", "MPI_Comm * newcomm", []string{"MPI_Cart_sub"}},
	{"const int array_of_block_lengths []", "const int array_of_blocklengths []", []string{"MPI_Type_create_struct"}},
	{"const int size_array []", "const int array_of_sizes []", []string{"MPI_Type_create_subarray"}},
	{"const int subsize_array []", "const int array_of_subsizes []", []string{"MPI_Type_create_subarray"}},
	{"const int start_array []", "const int array_of_starts []", []string{"MPI_Type_create_subarray"}},
	{"const int gsize_array []", "const int array_of_gsizes []", []string{"MPI_Type_create_darray"}},
	{"const int distrib_array []", "const int array_of_distribs []", []string{"MPI_Type_create_darray"}},
	{"const int darg_array []", "const int array_of_dargs []", []string{"MPI_Type_create_darray"}},
	{"const int psize_array []", "const int array_of_psizes []", []string{"MPI_Type_create_darray"}},
	{"MPI_Datatype type", "MPI_Datatype oldtype", []string{"MPI_Type_dup"}},
	{"MPI_Datatype * type", "MPI_Datatype * datatype", []string{"MPI_Type_match_size", "MPI_Type_commit", "MPI_Type_free"}},
	{"MPI_Datatype mtype", "MPI_Datatype datatype", []string{"MPI_Type_get_contents"}},
	{"const char datarep []", "const char * datarep", []string{"MPI_Pack_external", "MPI_Unpack_external", "MPI_Pack_external_size"}},
	{"const int level", "int level", []string{"MPI_Pcontrol"}},
	{"MPI_Comm_errhandler_function * function", "MPI_Comm_errhandler_function * comm_errhandler_fn", []string{"MPI_Comm_create_errhandler"}},
	{"MPI_Errhandler * erhandler", "MPI_Errhandler * errhandler", []string{"MPI_Comm_get_errhandler"}},
	{"MPI_Win_errhandler_function * function", "MPI_Win_errhandler_function * win_errhandler_fn", []string{"MPI_Win_create_errhandler"}},
	{"MPI_File_errhandler_function * function", "MPI_File_errhandler_function * file_errhandler_fn", []string{"MPI_File_create_errhandler"}},
	{"int target_cout", "int target_count", []string{"MPI_Rput"}},
	{"int * category_index", "int * cat_index", []string{"MPI_T_category_get_index"}},
	{"int * stamp", "int * update_number", []string{"MPI_T_category_changed"}},
	{"int comm", "MPI_Fint comm", []string{"MPI_Comm_f2c"}},
	{"int datatype", "MPI_Fint datatype", []string{"MPI_Type_f2c"}},
	{"int group", "MPI_Fint group", []string{"MPI_Group_f2c"}},
	{"int request", "MPI_Fint request", []string{"MPI_Request_f2c"}},
	{"int file", "MPI_Fint file", []string{"MPI_File_f2c"}},
	{"int win", "MPI_Fint win", []string{"MPI_Win_f2c"}},
	{"int op", "MPI_Fint op", []string{"MPI_Op_f2c"}},
	{"int info", "MPI_Fint info", []string{"MPI_Info_f2c"}},
	{"int errhandler", "MPI_Fint errhandler", []string{"MPI_Errhandler_f2c"}},
	{"int message", "MPI_Fint message", []string{"MPI_Message_f2c"}},
	{"int * f_status", "MPI_Fint f_status []", []string{"MPI_Status_c2f"}},
	{"const int * f_status", "const MPI_Fint f_status []", []string{"MPI_Status_f2c"}},
}
