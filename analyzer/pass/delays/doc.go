// Package delays puts all waiting down to what caused it in the end.
//
// The method is that of Böhme, Geimer, Wolf and Arnold, "Identifying the root causes of wait states in large-scale parallel
// applications", ICPP 2010, §III. In goes the event log with the wait states (package matching), out come the costs of delays
// by location and activity. It needs nothing else, and runs beside the other passes.
package delays
