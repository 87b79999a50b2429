// Package analyzertest analyzes traces for tests that need the findings of many analyses together.
//
// Its input is a trace. Its Findings are those of all analyses around the critical path, each under
// its own keys, as in report.json. Tests of one pass or analysis that are expensive use pass.Find.
package analyzertest
