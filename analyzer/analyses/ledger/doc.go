// Package ledger attributes the time of all ranks to causes.
package ledger
