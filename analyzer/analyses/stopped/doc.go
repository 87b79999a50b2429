// Package stopped says how a run ended that did not come to its end. The method is that of package analyzer/stopped.
package stopped
