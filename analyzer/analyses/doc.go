// Package analyses lists the analyses that there are. Each is a folder below this one; package analysis says what it has.
//
// Some of them share their name with a package of analyzer (phases, profile, verdict, topology, program, placement, clusters):
//
//   - analyzer/NAME is the method, a library that several packages use. It knows nothing of passes and reports.
//   - analyses/NAME is the analysis that asks the method. It has the findings that are written to report.json, and their
//     section of the report.
//   - A method that only one analysis uses is in the folder of that analysis (detail, stopped).
package analyses
