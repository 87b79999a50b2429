#include "issue.h"

#include "calls_gen.h"

#include <string.h>

char cr_state[1];

MPI_Status cr_status(struct call *c)
{
	MPI_Status status;
	const struct value v = cr_value(c);

	memset(&status, 0, sizeof(status));
	if (v.form != CR_STATUS) {
		if (v.form != CR_NOTHING)
			cr_damaged(c, "an argument that is no status");
		return status;
	}
	status.MPI_SOURCE = CR_NUMBER(c, int);
	status.MPI_TAG = CR_NUMBER(c, int);
	status.MPI_ERROR = CR_NUMBER(c, int);
	PMPI_Status_set_cancelled(&status, cr_number(c) > 0);
	const int64_t bytes = cr_number(c);
	PMPI_Status_set_elements_x(&status, MPI_BYTE, bytes > 0 ? bytes : 0);
	return status;
}

// Only the level has a meaning.
void cr_issue_MPI_Pcontrol(struct call *c)
{
	const int level = CR_NUMBER(c, int);
	cr_enter(c);
	cr_left(c, MPI_Pcontrol(level));
}
