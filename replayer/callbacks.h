// Replacements for functions of the recorded program that MPI calls.
#ifndef CAIRN_REPLAY_CALLBACKS_H
#define CAIRN_REPLAY_CALLBACKS_H

#include "constants.h"
#include "stream.h"

// Reads a function: a predefined one of MPI, or the replacement for one of the program's.
void *cr_function_or(struct call *c, void *stand_in);

#define CR_FUNCTION(c, type) ((type *)cr_function_or(c, (void *)cr_##type))

extern MPI_User_function cr_MPI_User_function;
extern MPI_Copy_function cr_MPI_Copy_function;
extern MPI_Delete_function cr_MPI_Delete_function;
extern MPI_Comm_copy_attr_function cr_MPI_Comm_copy_attr_function;
extern MPI_Comm_delete_attr_function cr_MPI_Comm_delete_attr_function;
extern MPI_Win_copy_attr_function cr_MPI_Win_copy_attr_function;
extern MPI_Win_delete_attr_function cr_MPI_Win_delete_attr_function;
extern MPI_Type_copy_attr_function cr_MPI_Type_copy_attr_function;
extern MPI_Type_delete_attr_function cr_MPI_Type_delete_attr_function;
extern MPI_Comm_errhandler_function cr_MPI_Comm_errhandler_function;
extern MPI_Win_errhandler_function cr_MPI_Win_errhandler_function;
extern MPI_File_errhandler_function cr_MPI_File_errhandler_function;
#if MPI_VERSION >= 4
extern MPI_User_function_c cr_MPI_User_function_c;
extern MPI_Session_errhandler_function cr_MPI_Session_errhandler_function;
#endif

#endif
