// Package placement says where ranks run, and where they should: package analyzer/placement has the method.
package placement
