// Marks declarations of this library's own variables and functions. -fvisibility=hidden affects
// definitions only: without the mark the compiler would load the address of a variable from the
// GOT, as if it could be another library's.
#ifndef CAIRN_HIDDEN_H
#define CAIRN_HIDDEN_H

#define CAIRN_HIDDEN __attribute__((visibility("hidden")))

#endif
