// The dynamic loader's functions, under their oldest symbol versions, as weak symbols. Before glibc 2.34 they are in libdl and libpthread. The shim does not link to these,
// since then every process of a container would map them; a process with MPI has them anyway.
#ifndef CAIRN_LOADER_H
#define CAIRN_LOADER_H

#include <dlfcn.h>

extern __typeof__(dlopen) cairn_dlopen __attribute__((weak));
extern __typeof__(dlsym) cairn_dlsym __attribute__((weak));
extern __typeof__(dladdr) cairn_dladdr __attribute__((weak));
extern __typeof__(dlerror) cairn_dlerror __attribute__((weak));

__asm__(".symver cairn_dlopen, dlopen@GLIBC_2.2.5");
__asm__(".symver cairn_dlsym, dlsym@GLIBC_2.2.5");
__asm__(".symver cairn_dladdr, dladdr@GLIBC_2.2.5");
__asm__(".symver cairn_dlerror, dlerror@GLIBC_2.2.5");

#endif
