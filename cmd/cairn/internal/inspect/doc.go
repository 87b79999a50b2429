// Package inspect has the commands that read traces and print what they contain or what follows
// from it: info, dump, program, clusters, placement, graph, predict, scale, compare. The only file
// they write is a clock map.
package inspect
