// Package comments has comments of any width.
package comments

// exact has ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab abb
func exact() {}

// more has ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab abb // want "has 101 columns"
func more() {}

func inside() {
	// a tab is four columns: ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab abbb
	// so this is longer: ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab abbb // want "has 101 columns"
}

func Example() {
	// Output:
	// of an example ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab
}

var code = 1 // a comment that follows code: ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab abb

// ü is one column: üb üb üb üb üb üb üb üb üb üb üb üb üb üb üb üb üb üb üb üb üb üb üb üb üb üb üb
func unicode() {}

// https://example.org/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
func address() {}

// +kubebuilder:validation:XValidation:rule= ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab
//
//go:generate go run ./gen ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab
func directives() {}

/* of a block ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab ab abbb // want "has 110 columns" */
func block() {}
