// Package verdict explains the duration of a run in one sentence: the cause, the ranks concerned,
// and the gain without it.
//
// Its kinds, forms and texts are those of package analyzer/verdict. Package causes finds the
// causes; the rule is in docs/verdict.md.
package verdict
