// Procedures whose Fortran layer does not call the C function of the same name. An adapter calls
// that function's wrapper with the arguments of a C program, and the wrapper calls the Fortran
// procedure instead of the C function.
#ifndef CAIRN_FORTRAN_ADAPTERS_H
#define CAIRN_FORTRAN_ADAPTERS_H

#include "../process/abi.h"

typedef void cairn_procedure(void); // a callback; its arguments do not matter here

// Attributes of MPI 1 are integers, the later ones addresses (MPI 4.0 §19.3.7). The error code may
// be absent (mpi_f08).
void cairn_fortran_MPI_Attr_get(MPI_Fint *comm, MPI_Fint *keyval, MPI_Fint *value, MPI_Fint *flag, MPI_Fint *error);
void cairn_fortran_MPI_Attr_put(MPI_Fint *comm, MPI_Fint *keyval, MPI_Fint *value, MPI_Fint *error);
void cairn_fortran_MPI_Comm_get_attr(MPI_Fint *comm, MPI_Fint *keyval, MPI_Aint *value, MPI_Fint *flag, MPI_Fint *error);
void cairn_fortran_MPI_Comm_set_attr(MPI_Fint *comm, MPI_Fint *keyval, MPI_Aint *value, MPI_Fint *error);
void cairn_fortran_MPI_Type_get_attr(MPI_Fint *type, MPI_Fint *keyval, MPI_Aint *value, MPI_Fint *flag, MPI_Fint *error);
void cairn_fortran_MPI_Type_set_attr(MPI_Fint *type, MPI_Fint *keyval, MPI_Aint *value, MPI_Fint *error);
void cairn_fortran_MPI_Win_get_attr(MPI_Fint *win, MPI_Fint *keyval, MPI_Aint *value, MPI_Fint *flag, MPI_Fint *error);
void cairn_fortran_MPI_Win_set_attr(MPI_Fint *win, MPI_Fint *keyval, MPI_Aint *value, MPI_Fint *error);
void cairn_fortran_MPI_Pcontrol(MPI_Fint *level);
double cairn_fortran_MPI_Wtime(void);
double cairn_fortran_MPI_Wtick(void);

#ifdef CAIRN_OPENMPI
void cairn_fortran_MPI_Keyval_create(cairn_procedure *copy, cairn_procedure *delete, MPI_Fint *keyval, MPI_Fint *state, MPI_Fint *error);
void cairn_fortran_MPI_Comm_create_keyval(cairn_procedure *copy, cairn_procedure *delete, MPI_Fint *keyval, MPI_Aint *state, MPI_Fint *error);
void cairn_fortran_MPI_Type_create_keyval(cairn_procedure *copy, cairn_procedure *delete, MPI_Fint *keyval, MPI_Aint *state, MPI_Fint *error);
void cairn_fortran_MPI_Win_create_keyval(cairn_procedure *copy, cairn_procedure *delete, MPI_Fint *keyval, MPI_Aint *state, MPI_Fint *error);
void cairn_fortran_MPI_Errhandler_create(cairn_procedure *function, MPI_Fint *errhandler, MPI_Fint *error);
void cairn_fortran_MPI_Comm_create_errhandler(cairn_procedure *function, MPI_Fint *errhandler, MPI_Fint *error);
void cairn_fortran_MPI_File_create_errhandler(cairn_procedure *function, MPI_Fint *errhandler, MPI_Fint *error);
void cairn_fortran_MPI_Win_create_errhandler(cairn_procedure *function, MPI_Fint *errhandler, MPI_Fint *error);
void cairn_fortran_MPI_Type_match_size(MPI_Fint *typeclass, MPI_Fint *size, MPI_Fint *type, MPI_Fint *error);
void cairn_fortran_MPI_Waitall(MPI_Fint *count, MPI_Fint *requests, MPI_Fint *statuses, MPI_Fint *error);
void cairn_fortran_MPI_Waitany(MPI_Fint *count, MPI_Fint *requests, MPI_Fint *index, MPI_Fint *status, MPI_Fint *error);
void cairn_fortran_MPI_Waitsome(MPI_Fint *count, MPI_Fint *requests, MPI_Fint *done, MPI_Fint *indices, MPI_Fint *statuses, MPI_Fint *error);
void cairn_fortran_MPI_Testall(MPI_Fint *count, MPI_Fint *requests, MPI_Fint *flag, MPI_Fint *statuses, MPI_Fint *error);
void cairn_fortran_MPI_Testany(MPI_Fint *count, MPI_Fint *requests, MPI_Fint *index, MPI_Fint *flag, MPI_Fint *status, MPI_Fint *error);
void cairn_fortran_MPI_Testsome(MPI_Fint *count, MPI_Fint *requests, MPI_Fint *done, MPI_Fint *indices, MPI_Fint *statuses, MPI_Fint *error);
void cairn_fortran_MPI_Request_get_status(MPI_Fint *request, MPI_Fint *flag, MPI_Fint *status, MPI_Fint *error);
MPI_Aint cairn_fortran_MPI_Aint_add(MPI_Aint *base, MPI_Aint *displacement);
MPI_Aint cairn_fortran_MPI_Aint_diff(MPI_Aint *a, MPI_Aint *b);
#endif

#endif
