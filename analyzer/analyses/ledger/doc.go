// Package ledger says what the time of all ranks went to.
package ledger
