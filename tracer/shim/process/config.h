// The tracer's settings: <root>/config.json.
#ifndef CAIRN_CONFIG_H
#define CAIRN_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "settings_gen.h"

struct cairn_config {
	char root[4096];    // the directory above our library's, or CAIRN_ROOT
	char reference[4096]; // path of the library that writes the reference log
	// the settings of config.json, documented in tracer/settings; a missing text is "", a
	// missing number 0
#define TEXT(key, field, size) char field[size];
#define SWITCH(key, field, otherwise) bool field;
#define NUMBER(key, field) int64_t field;
	CAIRN_SETTINGS_TEXTS(TEXT)
	CAIRN_SETTINGS_SWITCHES(SWITCH)
	CAIRN_SETTINGS_NUMBERS(NUMBER)
#undef TEXT
#undef SWITCH
#undef NUMBER
	// derived from them
	bool call_sites; // "caller" or "path"
	bool call_paths; // "path"
	int64_t wait_seconds; // at a marker, clustered
};

extern struct cairn_config cairn_config;

// cairn_config_read finds our directory and reads the settings. It returns false if this process
// must not be traced: there is no config.json, tracing is disabled in it, or it cannot be read (it
// then prints why on standard error).
bool cairn_config_read(void);

#endif
