// The functions behind ours: the next ones in the order of symbol resolution.
#ifndef CAIRN_REAL_H
#define CAIRN_REAL_H

#include <stddef.h>

#include "../shim/process/loader.h"

#define CAIRN_EXPORT __attribute__((visibility("default")))
#define CAIRN_SITE ((uintptr_t)__builtin_return_address(0))
#define CAIRN_UNLIKELY(x) __builtin_expect(!!(x), 0)

// CAIRN_NEXT looks a function up once; NULL: there is no other definition.
#define CAIRN_NEXT(name) \
	__extension__({ \
		static _Atomic(void *) next_; \
		void *f_ = __atomic_load_n((void **)&next_, __ATOMIC_ACQUIRE); \
		if (CAIRN_UNLIKELY(f_ == NULL)) { \
			f_ = cairn_dlsym(RTLD_NEXT, #name); \
			__atomic_store_n((void **)&next_, f_, __ATOMIC_RELEASE); \
		} \
		(__typeof__(&name))f_; \
	})

#endif
