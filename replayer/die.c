#include "die.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

int cr_rank = -1;

// Exit codes of cairn: api/messages.
enum { BAD_DATA = 65, INTERNAL = 70 };

static _Noreturn void end(int code, const char *format, va_list args)
{
	char text[1024], line[1200];

	vsnprintf(text, sizeof(text), format, args);
	const int n = snprintf(line, sizeof(line), "cairn replay: rank %d: %s\n", cr_rank, text);
	if (write(STDERR_FILENO, line, (size_t)n) != n)
		code = INTERNAL;
	_exit(code);
}

void cr_die(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	end(INTERNAL, format, args);
}

void cr_refuse(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	end(BAD_DATA, format, args);
}
