// A writer of JSON text. If memory runs out, the result is NULL.
#ifndef CAIRN_JSON_H
#define CAIRN_JSON_H

#include <stdbool.h>
#include <stddef.h>

struct cairn_json {
	char *text;
	size_t length, size;
	bool failed, comma;
};

void cairn_json_open(struct cairn_json *j, const char *key, char bracket);
void cairn_json_close(struct cairn_json *j, char bracket);
void cairn_json_string(struct cairn_json *j, const char *key, const char *value);
void cairn_json_number(struct cairn_json *j, const char *key, long long value);

// cairn_json_value adds text, which must be JSON up to a number that follows.
void cairn_json_value(struct cairn_json *j, const char *text, size_t length, long long value);

// cairn_json_finish returns the text, which the caller must free, or NULL.
char *cairn_json_finish(struct cairn_json *j);

#endif
