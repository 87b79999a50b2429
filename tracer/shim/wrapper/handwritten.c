// Wrappers that the generator cannot write; tracer/gen lists them.
#include <stdarg.h>

#include "../bind/control.h"
#include "wrapper.h"

// MPI_Pcontrol takes arguments that only a tool knows. Implementations ignore them. For
// another tool behind us the arguments in registers are passed on; the number of arguments on
// the stack is not known.
int cairn_MPI_Pcontrol(const int level, ...)
{
	__typeof__(&cairn_MPI_Pcontrol) real_ = CAIRN_REAL(MPI_Pcontrol);
	struct cairn_record record_;
	va_list args;
	long a[5];

	CAIRN_SEES_UNWINDING;
	va_start(args, level);
	for (int i = 0; i < 5; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	uint64_t caller_ = CAIRN_CALLER;
	if (CAIRN_UNLIKELY(cairn_may_not_be_programs(caller_)) && !cairn_is_programs(CAIRN_ID_MPI_Pcontrol, &caller_, &real_))
		return real_(level, a[0], a[1], a[2], a[3], a[4]);
	CAIRN_REFERENCE_CALL(call_MPI_Pcontrol(level));
	uint64_t *word_ = cairn_open(&record_, CAIRN_ID_MPI_Pcontrol, CAIRN_HEADER + 8, caller_, CAIRN_FRAME);
	if (CAIRN_LIKELY(word_ != NULL)) {
		*word_++ = CAIRN_WORD(level);
		word_ = cairn_enter(&record_, word_);
	}
	int result_ = real_(level, a[0], a[1], a[2], a[3], a[4]);
	if (CAIRN_LIKELY(word_ != NULL) && (word_ = cairn_exit(&record_, word_, CAIRN_WORD(result_))) != NULL)
		cairn_commit(&record_, word_);
	CAIRN_REFERENCE_RETURN(return_MPI_Pcontrol(reference_, result_, level));
	if (level == CAIRN_MARKER_LEVEL)
		cairn_explicit_marker();
	cairn_control(level);
	return result_;
}
