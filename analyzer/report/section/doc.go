// Package section is what an analysis needs to show its findings in the report.
//
// Its input is the findings of all analyses of a run (Run), its output a part of the page. A
// Section is in the folder of its analysis. It has a template, <name>.html.tmpl, with the result of
// View as data. If there is something to draw, it also has a script, <name>.js, with the result of
// Chart as "data". Templates have the functions of words.go; scripts have those of
// report/page/charts.js and tables.js.
package section
