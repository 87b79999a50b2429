// Start of tracing.
#ifndef CAIRN_START_H
#define CAIRN_START_H

// cairn_start starts recording when MPI is initialized for the first time. If that is not possible
// it prints why and sets the state to CAIRN_OFF.
void cairn_start(void);

#endif
