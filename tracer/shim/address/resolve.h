// The symbols of the binaries that call MPI: we cannot wait for them, and the shipper cannot see the binaries.
#ifndef CAIRN_RESOLVE_H
#define CAIRN_RESOLVE_H

// cairn_resolve starts `cairn resolve` for a binary beside the application, once per build id and pod.
void cairn_resolve(const char *binary, const char *id);

#endif
