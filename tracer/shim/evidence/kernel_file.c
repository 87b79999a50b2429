#include "kernel_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *cairn_read_small(const char *path, char *text, size_t size)
{
	int opened = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = opened < 0 ? -1 : read(opened, text, size - 1);
	if (opened >= 0)
		close(opened);
	if (n < 0)
		return NULL;
	text[n] = 0;
	return text;
}

char *cairn_read_opened(struct cairn_opened *o, const char *path, char *text, size_t size)
{
	return cairn_read_again(o, text, size) > 0 ? text : cairn_read_small(path, text, size);
}

int64_t cairn_line_of(const char *text, const char *name)
{
	const size_t n = strlen(name);
	for (const char *line = text; line != NULL && *line != 0; line = strchr(line, '\n'), line += line != NULL)
		if (strncmp(line, name, n) == 0 && line[n] == ' ')
			return strtoll(line + n, NULL, 10);
	return -1;
}
