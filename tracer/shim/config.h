// The tracer's settings: <root>/config.json.
#ifndef CAIRN_CONFIG_H
#define CAIRN_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "settings_gen.h"

struct cairn_config {
	char root[4096];    // the directory above our library's, or CAIRN_ROOT
	char library[4096]; // libcairn-core.so beside us
	// config.json's, as tracer/settings explains them; a text that is not given is "", a number 0
#define TEXT(key, field, size) char field[size];
#define SWITCH(key, field, otherwise) bool field;
#define NUMBER(key, field) int64_t field;
	CAIRN_SETTINGS_TEXTS(TEXT)
	CAIRN_SETTINGS_SWITCHES(SWITCH)
	CAIRN_SETTINGS_NUMBERS(NUMBER)
#undef TEXT
#undef SWITCH
#undef NUMBER
	// what follows from them
	bool call_sites; // "caller" or "path"
	bool call_paths; // "path"
	int64_t wait_seconds; // at a marker, clustered
};

extern struct cairn_config cairn_config;

// cairn_config_read finds out where we are and reads the settings. It returns false when this process is not to be
// traced: there is no config.json, it says so, or it cannot be read (then it says why on standard error).
bool cairn_config_read(void);

#endif
