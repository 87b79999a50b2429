// Package ledger says where the time of all ranks went.
package ledger
