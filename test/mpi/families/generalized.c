// SPDX-License-Identifier: Apache-2.0
// Generalized requests, and statuses that the program fills itself.
#include "family.h"

static int queried, freed, cancelled;

static int query(void *extra, MPI_Status *status)
{
    (void)extra;
    MPI_Status_set_elements(status, MPI_INT, 3);
    MPI_Status_set_cancelled(status, cancelled > 0);
    status->MPI_SOURCE = 5;
    status->MPI_TAG = 6;
    queried++;
    return MPI_SUCCESS;
}

static int free_(void *extra)
{
    *(int *)extra = 0;
    freed++;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    (void)extra;
    (void)complete;
    cancelled++;
    return MPI_SUCCESS;
}

int main(void)
{
    MPI_Request request;
    MPI_Status status;
    int state = 1, flag, count;
    MPI_Count many;

    begin();
    MPI_Grequest_start(query, free_, cancel, &state, &request);
    MPI_Test(&request, &flag, &status);
    CHECK(!flag);
    MPI_Grequest_complete(request);
    MPI_Request_get_status(request, &flag, &status);
    CHECK(flag);
    MPI_Wait(&request, &status);
    CHECK(status.MPI_SOURCE == 5 && status.MPI_TAG == 6);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 3 && queried >= 1 && freed == 1 && state == 0);

    MPI_Grequest_start(query, free_, cancel, &state, &request);
    MPI_Cancel(&request);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(cancelled == 1 && freed == 2);

    MPI_Status_set_elements_x(&status, MPI_INT, 4);
    MPI_Get_elements_x(&status, MPI_INT, &many);
    CHECK(many == 4);
    MPI_Status_set_cancelled(&status, 1);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
    return end();
}
