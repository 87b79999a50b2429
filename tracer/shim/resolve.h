// Symbols of the application: extracted once per binary and pod by `cairn resolve`, beside the application.
#ifndef CAIRN_RESOLVE_H
#define CAIRN_RESOLVE_H

// cairn_resolve starts it if nobody has yet. It returns at once.
void cairn_resolve(void);

#endif
