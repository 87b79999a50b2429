// Package chart tests the Helm chart with the real helm: what it renders and, on a real API server
// and a real MinIO, how keys survive upgrades and reinstallations.
package chart
