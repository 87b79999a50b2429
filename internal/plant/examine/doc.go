// Package examine runs plants and reports what Cairn finds in them.
//
// The input is a plant.Plant. The output is a Result: the causes that the analyzer names, its first
// sentence, the truth, and plant.Judge's judgment. Simulated plants are analyzed in this process.
// Real ones run under `cairn run`, and their report.json is read.
package examine
