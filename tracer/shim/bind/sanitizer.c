// The address sanitizer's library asks the program for its options by this function, the first
// definition of which counts. It refuses to work if another library is loaded before it, as every
// preloaded one is: functions of that one could replace what it observes. Ours does not define any
// of these. A program's own function comes first, and ASAN_OPTIONS are read later.
__attribute__((visibility("default"))) const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0";
}
