// Package section is what an analysis needs to show its findings in the report.
//
// In go the findings of all analyses of a run (Run); out comes a part of the page. A Section lies in the folder of its
// analysis: a template, <name>.html.tmpl, which is given what View returns, and, where there is something to draw, a script,
// <name>.js, which is given what Chart returns as "data". Templates have the functions of words.go; scripts have those of
// report/page/charts.js and tables.js.
package section
