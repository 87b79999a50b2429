// Package verdict says in a sentence why the run took as long as it did, who is to blame, and what it would gain without.
//
// Its kinds, forms and words are those of package analyzer/verdict; the causes are found by package causes; the rule is in
// docs/verdict.md.
package verdict
