// Package container holds what every container of Cairn's own has in common,
// whether it is injected into a user's pod or is the one of a Job: its security
// context, its way to the storage, its memory limit told to the Go runtime.
package container
