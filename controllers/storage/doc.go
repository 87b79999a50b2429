// Package storage is what the operator knows of a job's storage, without access to it: where objects lie, the Job that
// checks the storage and what it found, what pods said of the storage when they ended, and the words and advice for a
// person.
package storage
