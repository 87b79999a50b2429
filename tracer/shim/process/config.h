// The tracer's settings: <root>/config.json.
#ifndef CAIRN_CONFIG_H
#define CAIRN_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

struct cairn_config {
	char root[4096];    // the directory above our library's, or CAIRN_ROOT
	char core[4096], reference[4096]; // the libraries beside us that are loaded when there is need for them
	char spool[4096];
	char include[256], exclude[256]; // groups of functions, with commas
	bool start_off;  // until MPI_Pcontrol(1)
	bool call_sites; // "caller" or "path"
	bool call_paths; // "path"
	bool pointers;   // libcairn-allocations.so knows what they lead to
	char timing[4096]; // for the core; "": its default
	bool verify;
	char mode[256]; // for the core; "": full
	int64_t wait_seconds; // at a marker, clustered
	bool shared_spool; // with a sidecar, which is another user and owns it: a pod's
	int64_t spool_limit_bytes, segment_bytes; // 0: not given
};

extern struct cairn_config cairn_config;

// cairn_config_read finds out where we are and reads the settings. It returns false when this process is not to be
// traced: there is no config.json, it says so, or it cannot be read (then it says why on standard error).
bool cairn_config_read(void);

#endif
