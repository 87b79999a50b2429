// Package rootcauses says what all the waiting is put down to in the end.
package rootcauses
