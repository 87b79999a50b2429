// Package container has what all containers of Cairn share, in users' pods and in Jobs: the
// security context, the access to the storage, and the environment that tells the Go runtime its
// memory limit.
package container
