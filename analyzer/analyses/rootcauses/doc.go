// Package rootcauses attributes all waiting to its root causes.
package rootcauses
