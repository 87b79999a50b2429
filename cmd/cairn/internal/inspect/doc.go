// Package inspect has the commands that read traces and print what is in them, or what follows from them: info, dump,
// program, clusters, placement, graph, predict, scale, compare. They write nothing but a clock map.
package inspect
