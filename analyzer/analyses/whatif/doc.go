// Package whatif tells how long the run would have taken under other conditions, by replay (package predict has the model
// and what it assumes).
package whatif
