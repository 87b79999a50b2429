// Package clusters groups ranks that behave alike. The method is in package analyzer/clusters.
package clusters
