// What is this library's own, said where it is declared: -fvisibility=hidden speaks of definitions only, and the address
// of what might be another library's is looked up first.
#ifndef CAIRN_HIDDEN_H
#define CAIRN_HIDDEN_H

#define CAIRN_HIDDEN __attribute__((visibility("hidden")))

#endif
