// Package redact takes out of a trace what says where and on what a program ran, so that the trace can be given away.
//
// In goes a trace.Content and the kinds of what is to go: paths, hosts, arguments; out comes the same trace with pseudonyms:
// host-1, host-2, …, in the order of ranks. One string has one pseudonym, two have two, and none is a string that the trace
// had, so calls that differed still differ. Calls, times, sizes and structure stay as they are: an analysis says the same but
// for names.
//
//   - Hosts: names of hosts, pods and nodes, boot ids, the id of the MPI world, what MPI_Get_processor_name and
//     MPI_Get_library_version gave, names of ports and services.
//   - Paths: directories of source files, modules and executables, of which the last name stays, as do lines and names of
//     functions; names of files that the program opens or deletes by MPI, of which nothing stays.
//   - Arguments: all other strings that the program passed or got: argv, commands, keys and values of infos, names of objects;
//     and names of threads.
//
// In texts for people (notes, how a rank ended) each of these strings of 4 bytes and more is replaced where it stands, as are
// all paths, URLs and addresses, and words that look like names (prose.go): they may be of what has no rank in the trace. A
// name of letters alone that is nowhere else in the trace stays there. In arguments, where these stay, hosts and paths are
// replaced.
//
// What stays says something, too: how long calls took and how large messages were, the names of source files and functions, the
// version of the MPI library, how many ranks a host had.
package redact
