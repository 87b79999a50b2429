// Package recipes follows the recipes of CONTRIBUTING.md: in a copy of the tree it makes the
// changes of their code blocks, and runs all commands that they name. The build tag is recipes.
package recipes
