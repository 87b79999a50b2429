// Package storage is what the operator knows about a job's storage without having access to it: the
// URLs of objects, the Job that checks the storage and its result, what pods reported about the
// storage when they ended, and the texts and advice for people.
package storage
