package controllers

import (
	"fmt"
	"strings"
)

// attempts writes the attempts of the status as "attempt restarts exit-code".
func (s *stage) attempts() []string {
	s.Helper()
	var list []string
	for _, a := range s.job().Status.Attempts {
		code := "-"
		if a.ExitCode != nil {
			code = fmt.Sprint(*a.ExitCode)
		}
		list = append(list, fmt.Sprint(a.Attempt, " ", a.RestartCount, " ", code))
	}
	return list
}

// containsAll reports whether each word of want occurs in s.
func containsAll(s, want string) bool {
	for _, word := range strings.Fields(want) {
		if !strings.Contains(s, word) {
			return false
		}
	}
	return true
}
