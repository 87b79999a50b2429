// Sanitizers ask the program for their options by functions that it may define. The first
// definition counts, so an executable's own comes before ours, and a library's after it. What the
// environment says is read later.
#define DEFINED __attribute__((visibility("default")))

DEFINED const char *__asan_default_options(void);
DEFINED const char *__tsan_default_suppressions(void);

// The address sanitizer refuses to work if a library is loaded before its own, as every preloaded one
// is, since functions of that library could replace those that it observes. We define none of these.
const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0";
}

// The thread sanitizer sees what libc's functions do for us, but not what orders that: our atomic
// operations are not compiled for it. A text may stand for one library only.
const char *__tsan_default_suppressions(void)
{
	return "called_from_lib:libcairn-openmpi.so\n"
	       "called_from_lib:libcairn-mpich.so\n"
	       "called_from_lib:libcairn-reference-openmpi.so\n"
	       "called_from_lib:libcairn-reference-mpich.so\n"
	       "called_from_lib:libcairn-allocations.so\n";
}
