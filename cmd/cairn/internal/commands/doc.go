// Package commands is the command cairn: the list of its commands, in root.go, and the process that
// runs one of them.
//
// Each command is a function NewXCommand in the package of its subject. To add one, write that
// function there, and add a line to root.go. Its flags, errors and exit codes come from package
// cli, its traces from tracefile, its storage from storage. Its tests use package cairntest, which
// runs whole command lines.
package commands
