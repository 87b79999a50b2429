#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(struct cairn_json *j, const char *s, size_t n)
{
	if (j->length + n + 1 > j->size) {
		size_t size = 2 * j->size + n + 4096;
		char *text = realloc(j->text, size);
		if (text == NULL) {
			j->failed = true;
			return;
		}
		j->text = text;
		j->size = size;
	}
	memcpy(j->text + j->length, s, n);
	j->length += n;
	j->text[j->length] = 0;
}

static bool is_plain(char c)
{
	return (unsigned char)c >= ' ' && c != '"' && c != '\\';
}

static void add_string(struct cairn_json *j, const char *s)
{
	add(j, "\"", 1);
	while (*s != 0) {
		size_t n = 0;
		while (is_plain(s[n]))
			n++;
		add(j, s, n);
		s += n;
		if (*s == '"' || *s == '\\') {
			const char two[2] = {'\\', *s++};
			add(j, two, 2);
		} else if (*s != 0) {
			char six[8];
			add(j, six, (size_t)snprintf(six, sizeof(six), "\\u%04x", (unsigned)*s++));
		}
	}
	add(j, "\"", 1);
}

static void begin(struct cairn_json *j, const char *key)
{
	if (j->comma)
		add(j, ",\n", 2);
	j->comma = true;
	if (key != NULL) {
		add_string(j, key);
		add(j, ":", 1);
	}
}

void cairn_json_open(struct cairn_json *j, const char *key, char bracket)
{
	begin(j, key);
	add(j, &bracket, 1);
	j->comma = false;
}

void cairn_json_close(struct cairn_json *j, char bracket)
{
	add(j, &bracket, 1);
	j->comma = true;
}

void cairn_json_string(struct cairn_json *j, const char *key, const char *value)
{
	begin(j, key);
	add_string(j, value != NULL ? value : "");
}

static void add_number(struct cairn_json *j, long long value)
{
	unsigned long long left = value < 0 ? -(unsigned long long)value : (unsigned long long)value;
	char digits[24], *at = digits + sizeof(digits);

	do
		*--at = (char)('0' + left % 10);
	while ((left /= 10) != 0);
	if (value < 0)
		*--at = '-';
	add(j, at, (size_t)(digits + sizeof(digits) - at));
}

void cairn_json_number(struct cairn_json *j, const char *key, long long value)
{
	begin(j, key);
	add_number(j, value);
}

void cairn_json_value(struct cairn_json *j, const char *text, size_t length, long long value)
{
	begin(j, NULL);
	add(j, text, length);
	add_number(j, value);
}

char *cairn_json_finish(struct cairn_json *j)
{
	if (j->failed) {
		free(j->text);
		return NULL;
	}
	return j->text;
}
