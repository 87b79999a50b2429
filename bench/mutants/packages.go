package main

// A subject is a package with mutants, and the packages whose tests may notice them. The tests of
// a package run only if those of the ones before it noticed nothing.
type subject struct {
	folder string
	tests  []string
}

var subjects = []subject{
	{"trace/grammar", []string{"trace/grammar", "trace/codec", "trace", "merger"}},
	{"analyzer/match", []string{
		"analyzer/match", "analyzer/waitstate", "analyzer/eventlog", "analyzer/execution",
		"analyzer/clock", "analyzer/polling", "analyzer/scaling",
		"analyzer/pass/accounts",
	}},
	{"analyzer/waitstate", []string{
		"analyzer/waitstate", "analyzer/match", "analyzer/eventlog", "analyzer/clusters",
		"analyzer/pass/accounts", "analyzer",
	}},
	{"analyzer/pass/causes", []string{
		"analyzer/pass/causes", "analyzer/pass/accounts", "analyzer/pass/route",
		"analyzer/verdict", "analyzer/report", "analyzer",
	}},
	{"store", []string{"store", "cmd/cairn/internal/storage", "merger/collect", "shipper"}},
	{"merger", []string{
		"merger", "analyzer/traffic", "internal/simulate", "cmd/cairn/internal/rewrite", "merger/collect",
	}},
	{"trace", []string{
		"trace", "merger", "analyzer/timeline", "analyzer/reduce", "analyzer/redact",
		"tracer/recorder", "tracer/recorder/observed", "tracer/recorder/online",
	}},
	{"shipper", []string{"shipper", "merger/collect", "cmd/cairn/internal/pod"}},
	{"controllers", []string{"controllers"}},
}
