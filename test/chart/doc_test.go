// Package chart tests the Helm chart with the real helm: what it renders, and, on a real API server and a real MinIO, what
// becomes of the keys over the life of releases.
package chart
