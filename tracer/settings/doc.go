// Package settings has what the tracer can be told, in one place: Settings is the tracer's configuration file, config.json
// below its root, and Options has for each of its fields the flags of cairn run and cairn probe, with their defaults,
// allowed values and help, and how much room the shim has for it.
//
// From the table follow:
//   - the flags of both commands, and what they mean (internal/tracerflags);
//   - the arguments that the operator gives the probe (Arguments);
//   - the keys, kinds and limits that the shim reads config.json by: go generate writes tracer/shim/settings_gen.h.
//
// To add an option: add a field to Settings and an entry to Options, both in settings.go, and run go generate. It then has
// its flags, and a field of that name in the shim's struct cairn_config. If a TracedMPIJob is to have it, add a field to
// v1alpha1.Tracing, with the lower-case forms of its values, and a line to tracerSettings in controllers, which maps
// one onto the other.
//
// The package knows nothing but its own table, so that the operator, the commands and the generator can import it.
package settings

//go:generate go run ./gen -o ../shim/settings_gen.h
