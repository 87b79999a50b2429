// Package clusters groups ranks that behave alike: package analyzer/clusters has the method.
package clusters
