// Package accounts says how each location spent its time.
package accounts
