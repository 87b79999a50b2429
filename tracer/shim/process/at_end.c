#include "at_end.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#include "loader.h"

// Start files normally define the handle of a library; there are none here.
void *__dso_handle;

extern __typeof__(on_exit) on_exit __attribute__((weak));
extern int __register_atfork(void (*)(void), void (*)(void), void (*)(void), void *) __attribute__((weak));
extern int __cxa_atexit(void (*)(void *), void *, void *);

// Functions for a C library that does not tell the exit code.
static struct at_exit {
	void (*function)(int code, void *data);
	void *data;
} functions[8];
static _Atomic size_t count;

static void without_code(void *function)
{
	const struct at_exit *f = function;
	f->function(CAIRN_CODE_UNKNOWN, f->data);
}

void cairn_at_exit(void (*function)(int code, void *data), void *data)
{
	if (on_exit != NULL) {
		(void)on_exit(function, data);
		return;
	}
	size_t i = atomic_fetch_add(&count, 1);
	if (i >= sizeof(functions) / sizeof(functions[0]))
		return;
	functions[i] = (struct at_exit){function, data};
	(void)__cxa_atexit(without_code, &functions[i], __dso_handle);
}

// glibc has pthread_atfork in a part that is linked statically, and is this function.
void cairn_at_fork(void (*in_child)(void))
{
	int (*other)(void (*)(void), void (*)(void), void (*)(void));

	if (__register_atfork != NULL)
		(void)__register_atfork(NULL, NULL, in_child, __dso_handle);
	else if ((*(void **)&other = cairn_dlsym(RTLD_DEFAULT, "pthread_atfork")) != NULL)
		(void)other(NULL, NULL, in_child);
}
