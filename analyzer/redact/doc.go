// Package redact removes from a trace the information where and on what a program ran, so that the
// trace can be given to others.
//
// The input is a trace.Content and the kinds of information to remove: paths, hosts, arguments. The
// output is the same trace with pseudonyms: host-1, host-2, …, in the order of ranks. Equal strings
// get equal pseudonyms, different strings get different ones, and no pseudonym is a string of the
// trace, so calls that differed still differ. Calls, times, sizes and structure do not change:
// analyses give the same results except for names.
//
//   - Hosts: names of hosts, pods and nodes, boot ids, the id of the MPI world, results of
//     MPI_Get_processor_name and MPI_Get_library_version, names of ports and services.
//   - Paths: directories of source files, modules and executables, while their last names, lines
//     and names of functions are kept; names of files that the program opens or deletes by MPI,
//     completely.
//   - Arguments: all other strings that the program passed or received: argv, commands, keys and
//     values of infos, names of objects; and names of threads.
//
// In texts for people (notes, how a rank ended) each of these strings with at least 4 bytes is
// replaced. So are all paths, URLs and addresses, and words that look like names (prose.go),
// because they may refer to something without a rank in the trace. A name that consists only of
// letters and occurs nowhere else in the trace is kept there. In arguments, if these are kept,
// hosts and paths are replaced.
//
// What is kept is information, too: how long calls took and how large messages were, the names of
// source files and functions, the version of the MPI library, how many ranks a host had.
package redact
