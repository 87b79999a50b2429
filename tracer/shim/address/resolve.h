// Symbols of the binaries that call MPI. Looking them up takes too long for us, and the shipper
// cannot see the binaries.
#ifndef CAIRN_RESOLVE_H
#define CAIRN_RESOLVE_H

// cairn_resolve starts `cairn resolve` for a binary in a separate process, once per
// build id and pod.
void cairn_resolve(const char *binary, const char *id);

#endif
