// Package profile sums calls by function, and traffic by sender and receiver. The method is in
// package analyzer/profile.
package profile
