// Package examine runs plants and says what Cairn finds in them.
//
// What goes in: a plant.Plant. What comes out: a Result, with the causes that the analyzer names, its first sentence, the
// truth, and plant.Judge's judgment. Simulated plants are analyzed in this process; real ones run under `cairn run`, and
// their report.json is read.
package examine
