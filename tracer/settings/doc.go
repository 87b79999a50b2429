// Package settings has all options of the tracer. Settings is the tracer's configuration file,
// config.json in its root directory. Options has, for each field, the flags of cairn run and cairn
// probe with their defaults, allowed values and help, and the size of the shim's buffer for it.
//
// The following is derived from the table:
//   - the flags of both commands, and their effect (internal/tracerflags);
//   - the arguments that the operator passes to the probe (Arguments);
//   - the keys, kinds and limits with which the shim reads config.json: go generate writes
//     tracer/shim/process/settings_gen.h.
//
// To add an option: add a field to Settings and an entry to Options, both in settings.go, and run
// go generate. It then has its flags, and a field of that name in the shim's struct cairn_config.
// If a TracedMPIJob is to have it, add a field to v1alpha1.Tracing, with the lower-case forms of
// its values, and a line to tracerSettings in controllers, which maps one onto the other.
//
// The package knows nothing but its own table, so that the operator, the commands and the
// generator can import it.
package settings

//go:generate go run ./gen -o ../shim/process/settings_gen.h
