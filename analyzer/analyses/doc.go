// Package analyses lists all analyses. Each is in a folder below this one, as described in package
// analysis.
//
// Some analyses share their name with a package of analyzer (phases, profile, verdict, topology,
// program, placement, clusters):
//
//   - analyzer/NAME is the method: a library with several users, independent of passes and reports.
//   - analyses/NAME is the analysis that applies the method. It defines the findings that are
//     written to report.json, and their section of the report.
//   - A method with a single user is in the folder of that analysis (detail, stopped).
package analyses
