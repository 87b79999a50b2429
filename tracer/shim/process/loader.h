// Functions of the C library under their oldest symbol versions, as weak symbols.
//
// Before glibc 2.34 the dynamic loader's functions are in libdl. The shim does not link to it, since
// then every process of a container would map it; a process with MPI has it anyway.
//
// musl ignores versions, and ends a process if a symbol of a preloaded library that is not weak is
// missing. It lacks on_exit and __register_atfork (at_end.h).
#ifndef CAIRN_LOADER_H
#define CAIRN_LOADER_H

#include <dlfcn.h>

// The oldest version of symbols that later got another one.
#ifdef __x86_64__
#define CAIRN_FIRST_GLIBC "GLIBC_2.2.5"
#else
#define CAIRN_FIRST_GLIBC "GLIBC_2.17"
#endif

#define CAIRN_FIRST_VERSION(name) \
	extern __typeof__(name) cairn_##name __attribute__((weak)); \
	__asm__(".symver cairn_" #name ", " #name "@" CAIRN_FIRST_GLIBC)

CAIRN_FIRST_VERSION(dlopen);
CAIRN_FIRST_VERSION(dlsym);
CAIRN_FIRST_VERSION(dladdr);
CAIRN_FIRST_VERSION(dlerror);

#endif
