#include "encode.h"

uint64_t cairn_strings_bytes(char *const *strings, int64_t n)
{
	uint64_t bytes = 16;
	for (int64_t i = 0; i < n; i++)
		bytes += cairn_string_bytes(strings[i] != NULL ? (int64_t)strlen(strings[i]) : 0);
	return bytes;
}

uint64_t cairn_argument_lists_bytes(char **const *lists, int64_t n)
{
	uint64_t bytes = 16;
	for (int64_t i = 0; i < n; i++)
		bytes += cairn_strings_bytes(lists[i], cairn_count_strings(lists[i]));
	return bytes;
}

uint64_t *cairn_put_string(uint64_t *word, int64_t n, const char *s)
{
	*word++ = (uint64_t)n;
	if (n == CAIRN_SENTINEL)
		*word++ = CAIRN_WORD(s);
	if (n <= 0)
		return word;
	uint64_t words = ((uint64_t)n + 7) / 8;
	word[words - 1] = 0;
	memcpy(word, s, (uint64_t)n);
	return word + words;
}

uint64_t *cairn_put_string_within(uint64_t *word, int64_t capacity, const char *s)
{
	if (capacity >= 0 && s == NULL)
		capacity = CAIRN_NULL;
	return cairn_put_string(word, capacity > 0 ? (int64_t)strnlen(s, (uint64_t)capacity) : capacity, s);
}

uint64_t *cairn_put_strings(uint64_t *word, int64_t n, char *const *strings)
{
	*word++ = (uint64_t)n;
	if (n == CAIRN_SENTINEL)
		*word++ = CAIRN_WORD(strings);
	for (int64_t i = 0; i < n; i++)
		word = cairn_put_string(word, strings[i] != NULL ? (int64_t)strlen(strings[i]) : CAIRN_NULL, strings[i]);
	return word;
}

uint64_t *cairn_put_argument_lists(uint64_t *word, int64_t n, char **const *lists)
{
	*word++ = (uint64_t)n;
	if (n == CAIRN_SENTINEL)
		*word++ = CAIRN_WORD(lists);
	for (int64_t i = 0; i < n; i++)
		word = cairn_put_strings(word, lists[i] != NULL ? cairn_count_strings(lists[i]) : CAIRN_NULL, lists[i]);
	return word;
}

uint64_t *cairn_put_argv(uint64_t *word, int64_t before, char ***argv, uint64_t bytes)
{
	int64_t n = before < 0 || argv == NULL || *argv == NULL ? CAIRN_NULL : cairn_count_strings(*argv);
	if (n >= 0 && cairn_strings_bytes(*argv, n) > bytes)
		n = CAIRN_NULL;
	return cairn_put_strings(word, n, argv != NULL ? *argv : NULL);
}
