package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/apps/catalog"
)

// A corpus is the content of the three files.
type corpus struct {
	programs []*program
	known    []*knownFailure
	refusals []refusal
}

// A program is a block of programs.txt, with what must hold for its output and its reports.
type program struct {
	catalog.Program
	measures []*regexp.Regexp // numbers of these lines, outside of the match, differ between any two runs
	differs  []*regexp.Regexp // lines of the output that differ as a whole
	anyOrder bool             // ranks print lines without an order
	files    []string         // written by the program, and compared as its output is
	says     []*claim
	sentence []*sentenceRule
}

// A testCase is a program under one MPI.
type testCase struct {
	program *program
	command catalog.Command
}

func (e testCase) name() string { return e.program.Name + "." + e.command.MPI }

// cases returns all cases of the named programs, or of all.
func (c *corpus) cases(names []string) ([]testCase, error) {
	var all []testCase
	found := map[string]bool{}
	for _, p := range c.programs {
		for _, command := range p.Commands {
			e := testCase{p, command}
			if len(names) == 0 || slices.Contains(names, p.Name) || slices.Contains(names, e.name()) {
				all = append(all, e)
				found[p.Name], found[e.name()] = true, true
			}
		}
	}
	for _, name := range names {
		if !found[name] {
			return nil, fmt.Errorf("%s is no program of %s", name, filepath.Join(catalog.Folder, "programs.txt"))
		}
	}
	return all, nil
}

func readCorpus(folder string) (*corpus, error) {
	c := &corpus{}
	for _, f := range []struct {
		name string
		line func(string) error
	}{
		{"programs.txt", c.programLine},
		{"known-failures.txt", c.knownLine},
		{"refusals.txt", c.refusalLine},
	} {
		if err := catalog.Lines(filepath.Join(folder, f.name), f.line); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// programLine reads a line of programs.txt: the name of a program, or an indented word of the last
// one with its value.
func (c *corpus) programLine(line string) error {
	if line[0] != ' ' {
		if slices.ContainsFunc(c.programs, func(p *program) bool { return p.Name == line }) {
			return fmt.Errorf("%s is here twice", line)
		}
		c.programs = append(c.programs, &program{Program: catalog.New(strings.TrimSpace(line))})
		return nil
	}
	if len(c.programs) == 0 {
		return fmt.Errorf("%q belongs to no program", line)
	}
	word, value, _ := strings.Cut(strings.TrimSpace(line), " ")
	return c.programs[len(c.programs)-1].set(word, strings.TrimSpace(value))
}

func (p *program) set(word, value string) (err error) {
	if known, err := p.Set(word, value); known {
		return err
	}
	switch word {
	case "measures":
		var r *regexp.Regexp
		r, err = regexp.Compile(value)
		p.measures = append(p.measures, r)
	case "differs":
		var r *regexp.Regexp
		r, err = regexp.Compile(value)
		p.differs = append(p.differs, r)
	case "any-order":
		p.anyOrder = true
	case "files":
		p.files = strings.Fields(value)
	case "says":
		var s *claim
		s, err = parseClaim(value)
		p.says = append(p.says, s)
	case "sentence":
		var s *sentenceRule
		s, err = parseSentenceRule(value)
		p.sentence = append(p.sentence, s)
	default:
		return fmt.Errorf("what is %q?", word)
	}
	return err
}

// A knownFailure is a line of known-failures.txt: checks that fail, and why.
type knownFailure struct {
	cases, checks *regexp.Regexp // of whole names
	sometimes     bool           // the check passes in some runs
	reason        string
}

// knownLine reads "CASE CHECK [sometimes]: reason", with regular expressions for cases and checks.
func (c *corpus) knownLine(line string) error {
	what, reason, ok := strings.Cut(line, ": ")
	fields := strings.Fields(what)
	sometimes := len(fields) == 3 && fields[2] == "sometimes"
	if !ok || reason == "" || len(fields) != 2 && !sometimes {
		return fmt.Errorf("a line is CASE CHECK [sometimes]: reason")
	}
	k := &knownFailure{sometimes: sometimes, reason: strings.TrimSpace(reason)}
	var err error
	if k.cases, err = whole(fields[0]); err != nil {
		return err
	}
	k.checks, err = whole(fields[1])
	c.known = append(c.known, k)
	return err
}

// reason returns the entry for a check, or nil.
func (c *corpus) reason(name, check string) *knownFailure {
	for _, k := range c.known {
		if k.cases.MatchString(name) && k.checks.MatchString(check) {
			return k
		}
	}
	return nil
}

// A refusal is a line of refusals.txt: how a command may refuse a trace, which is correct.
type refusal struct {
	command string
	message *regexp.Regexp
}

// refusalLine reads "COMMAND: REGULAR EXPRESSION".
func (c *corpus) refusalLine(line string) error {
	command, message, ok := strings.Cut(line, ": ")
	if !ok {
		return fmt.Errorf("a line is COMMAND: MESSAGE")
	}
	r, err := regexp.Compile(strings.TrimSpace(message))
	c.refusals = append(c.refusals, refusal{command, r})
	return err
}

// mayRefuse reports whether a message is a known refusal of a command.
func (c *corpus) mayRefuse(command, message string) bool {
	return slices.ContainsFunc(c.refusals, func(r refusal) bool { return r.command == command && r.message.MatchString(message) })
}

func whole(pattern string) (*regexp.Regexp, error) { return regexp.Compile("^(?:" + pattern + ")$") }
