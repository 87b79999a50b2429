package redact

import (
	"regexp"
	"strings"
	"unicode"
)

// Texts for people (notes, why tracing stopped) contain names that are nowhere else in a trace: a
// pod whose ranks are all missing, a storage's address in an error. So whatever looks like a name
// is replaced, known or not.

// addresses are URLs and network addresses with their ports.
var addresses = regexp.MustCompile(`[a-z][a-z0-9+.-]*://[^\s"'(),;]+` + // ends before punctuation, see address
	`|\[[0-9a-fA-F:.]*:[0-9a-fA-F:.]*(?:%\w+)?\](?::\d+)?` +
	`|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b` +
	`|\b(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}\b` +
	`|\b[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{1,4})*::(?:[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{1,4})*)?`)

// words are possible names, including those of processes and files.
var words = regexp.MustCompile(`[\pL0-9_][\pL0-9_.@/-]*[\pL0-9_]`)

// amounts and lists of ranks.
var amounts = regexp.MustCompile(`^[0-9][0-9.-]*(?:ns|us|µs|ms|s|B|[KMG]i?B)?$`)

// ofMPI are functions and constants of MPI.
var ofMPI = regexp.MustCompile(`^P?MPI_\w+$`)

// ordinary are words with a hyphen that are not names.
var ordinary = map[string]bool{
	"call-site": true, "non-blocking": true, "one-sided": true, "point-to-point": true, "read-only": true, "run-time": true,
	"stand-in": true, "time-out": true,
}

// prose redacts a text for people.
func (p *pseudonyms) prose(s string) string {
	if p.what.Hosts {
		s = addresses.ReplaceAllStringFunc(s, p.address)
	}
	s = p.texts.Replace(p.paths(s))
	return words.ReplaceAllStringFunc(s, p.word)
}

func (p *pseudonyms) address(s string) string {
	end := strings.TrimRight(s, ".:")
	return p.pseudonym(address, end) + s[len(end):]
}

func (p *pseudonyms) word(s string) string {
	first, _, slash := strings.Cut(s, "/")
	switch {
	case p.made[s] || p.made[first] || p.communicators[s] || ordinary[s] || amounts.MatchString(s) || ofMPI.MatchString(s):
		return s
	case slash && p.what.Paths && (strings.ContainsAny(s, "._-0123456789") || strings.Count(s, "/") > 1),
		!slash && p.what.Hosts && strings.ContainsAny(s, ".@_-0123456789") && strings.ContainsFunc(s, unicode.IsLetter):
		return p.pseudonym(word, s)
	}
	return s
}

// pseudonym returns the pseudonym of a string; a new one of a kind if it has none yet.
func (p *pseudonyms) pseudonym(k kind, s string) string {
	if _, known := p.of[s]; !known {
		p.of[s] = p.fresh(k)
	}
	return p.of[s]
}
