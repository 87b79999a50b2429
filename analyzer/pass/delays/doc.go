// Package delays attributes all waiting to its root causes.
//
// The method is that of Böhme, Geimer, Wolf and Arnold, "Identifying the root causes of wait states
// in large-scale parallel applications", ICPP 2010, §III. Its input is the event log with the wait
// states (package matching), its result the costs of delays by location and activity. It needs
// nothing else and runs concurrently with the other passes.
package delays
