package redact

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// What is to be removed.
type What struct{ Paths, Hosts, Arguments bool }

// All is everything.
var All = What{true, true, true}

// Parse reads a list as "paths,hosts".
func Parse(list []string) (w What, err error) {
	for _, word := range list {
		switch word {
		case "paths":
			w.Paths = true
		case "hosts":
			w.Hosts = true
		case "arguments":
			w.Arguments = true
		default:
			return w, fmt.Errorf("%q: paths, hosts and arguments can be redacted", word)
		}
	}
	return w, nil
}

// A kind of string; its pseudonyms begin with it.
type kind string

const (
	host      kind = "host"
	pod       kind = "pod"
	node      kind = "node"
	boot      kind = "boot"
	world     kind = "world"
	port      kind = "port"
	file      kind = "file"
	directory kind = "dir" // a path whose last name is kept
	text      kind = "text"
	thread    kind = "thread"
	address   kind = "address" // in a text for people, like
	word      kind = "word"    // something that looks like a name
	prose     kind = ""        // a text for people
	joined    kind = "name"    // a name that may contain others
)

func (w What) has(k kind) bool {
	switch k {
	case host, pod, node, boot, world, port:
		return w.Hosts
	case file, directory:
		return w.Paths
	case text, thread:
		return w.Arguments
	}
	return false // their parts are replaced
}

// Content redacts a trace in place; data shared with others is copied first.
func Content(c *trace.Content, w What) {
	p := pseudonyms{
		what: w, seen: map[string]bool{}, of: map[string]string{}, made: map[string]bool{}, next: map[kind]int{}, communicators: map[string]bool{},
	}
	walk(c, p.collect)
	p.arrange()
	walk(c, p.replace)
}

// pseudonyms maps strings to their pseudonyms.
type pseudonyms struct {
	what  What
	seen  map[string]bool // all strings of the trace
	found []found
	of    map[string]string
	made  map[string]bool // the pseudonyms, without a slash at the end
	next  map[kind]int
	texts *strings.Replacer // all of them, in texts for people
	names *strings.Replacer // hosts and paths, in strings that are kept
	// communicators are their names, which texts for people may contain.
	communicators map[string]bool
}

type found struct {
	kind kind
	text string
}

// key splits a string into the part that is replaced and the part that is kept. Empty: nothing is
// replaced.
func key(k kind, s string) (replaced, stays string) {
	if k != directory {
		return s, ""
	}
	slash := strings.LastIndexByte(s, '/')
	return s[:slash+1], s[slash+1:]
}

func (p *pseudonyms) collect(k kind, s string) string {
	p.seen[s] = true
	if !p.what.has(k) {
		return s
	}
	if part, _ := key(k, s); part != "" {
		p.seen[part] = true
		p.found = append(p.found, found{k, part})
	}
	return s
}

// arrange assigns a pseudonym to each string, of the first of its kinds.
func (p *pseudonyms) arrange() {
	var originals, names []string
	for _, f := range p.found {
		if _, known := p.of[f.text]; known {
			continue
		}
		p.pseudonym(f.kind, f.text)
		if len(f.text) < shortest {
			continue
		}
		originals = append(originals, f.text)
		if f.kind != text && f.kind != thread {
			names = append(names, f.text)
		}
	}
	p.texts, p.names = p.replacer(originals), p.replacer(names)
}

func (p *pseudonyms) replacer(originals []string) *strings.Replacer {
	// the longest first: one may be a part of another
	slices.SortFunc(originals, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	var pairs []string
	for _, s := range originals {
		pairs = append(pairs, s, p.of[s])
	}
	return strings.NewReplacer(pairs...)
}

// shortest is the minimum length of strings that are replaced within others.
const shortest = 4

// fresh returns a pseudonym that is not a string of the trace.
func (p *pseudonyms) fresh(k kind) string {
	for {
		p.next[k]++
		name := fmt.Sprintf("%s-%d", k, p.next[k])
		full := name
		if k == directory {
			full += "/"
		}
		if !p.seen[full] {
			p.made[name] = true
			return full
		}
	}
}

// absolute are absolute paths within a text; a single name only where it is likely to be a path.
var absolute = regexp.MustCompile(`(?:^|[\s"'(=:,])(?:/[^\s:;,"'()/]+)+/?|(?:/[^\s:;,"'()/]+){2,}/?`)

func (p *pseudonyms) replace(k kind, s string) string {
	switch {
	case k == prose:
		return p.prose(s)
	case k == joined:
		name := p.texts.Replace(s)
		p.communicators[name] = true
		return name
	case !p.what.has(k):
		if k == text || k == port {
			s = p.paths(s)
		}
		return p.names.Replace(s)
	}
	part, stays := key(k, s)
	if part == "" {
		return s
	}
	return p.of[part] + stays
}

// paths replaces the paths in a text.
func (p *pseudonyms) paths(s string) string {
	if !p.what.Paths {
		return s
	}
	return absolute.ReplaceAllStringFunc(s, p.path)
}

// path replaces a path in a text, with the character before it: all of it but its last name.
func (p *pseudonyms) path(s string) string {
	slash := strings.IndexByte(s, '/')
	part, stays := key(directory, s[slash:])
	return s[:slash] + p.pseudonym(directory, part) + stays
}

// walk replaces all strings of a trace by the result of f.
func walk(c *trace.Content, f func(kind, string) string) {
	of := func(k kind, s *string) {
		if *s != "" {
			*s = f(k, *s)
		}
	}
	ranks := c.Ranks.List()
	for i := range ranks {
		r := &ranks[i]
		of(pod, &r.Pod)
		of(node, &r.Node)
		of(host, &r.Host)
		of(boot, &r.BootID)
		of(directory, &r.Executable)
		r.Threads = slices.Clone(r.Threads)
		for k := range r.Threads {
			if !r.Threads[k].Tool {
				of(thread, &r.Threads[k].Name)
			}
		}
	}
	of(world, &c.Meta.World)
	walkSites(c, of)
	walkSignatures(c, of)
	c.Communicators = slices.Clone(c.Communicators)
	for i := range c.Communicators {
		of(text, &c.Communicators[i].Label)
		of(world, &c.Communicators[i].RemoteWorld)
		of(joined, &c.Communicators[i].GlobalName)
	}
	c.Meta.Notes = slices.Clone(c.Meta.Notes)
	for i := range c.Meta.Notes {
		of(prose, &c.Meta.Notes[i])
	}
	for i := range ranks {
		// programs read what precedes the reason
		if what, why, reason := strings.Cut(ranks[i].EndedEarly, ": "); reason {
			of(prose, &why)
			ranks[i].EndedEarly = what + ": " + why
		}
	}
	c.Ranks = trace.NewRankTable(ranks...)
}

var hexadecimal = regexp.MustCompile(`^[0-9a-fA-F]*$`)

func walkSites(c *trace.Content, of func(kind, *string)) {
	c.Sites = slices.Clone(c.Sites)
	for i := range c.Sites {
		s := &c.Sites[i]
		of(directory, &s.File)
		of(directory, &s.Module)
		if !hexadecimal.MatchString(s.BuildID) {
			of(directory, &s.BuildID)
		}
	}
}

func walkSignatures(c *trace.Content, of func(kind, *string)) {
	functions := map[uint16]*trace.Function{}
	for i := range c.Functions {
		functions[c.Functions[i].ID] = &c.Functions[i]
	}
	c.Signatures = slices.Clone(c.Signatures)
	for i := range c.Signatures {
		s := &c.Signatures[i]
		f := functions[s.Function]
		if f == nil {
			continue
		}
		means := f.Semantics()
		in, out := 0, 0
		for k, p := range f.Parameters {
			kind := kindOf(f.Name, means, means.Roles[k])
			if p.Direction != trace.Out {
				walkValues(&s.In, in, kind, of)
				in++
			}
			if p.Direction != trace.In {
				walkValues(&s.Out, out, kind, of)
				out++
			}
		}
	}
}

// walkValues replaces the strings of a value and of its elements; the list is copied if it has any.
func walkValues(values *[]trace.Value, i int, k kind, of func(kind, *string)) {
	if i >= len(*values) || !hasText(&(*values)[i]) {
		return
	}
	*values = slices.Clone(*values)
	v := &(*values)[i]
	if v.Form == trace.Text {
		of(k, &v.Text)
	}
	for n := range v.List {
		walkValues(&v.List, n, k, of)
	}
}

func hasText(v *trace.Value) bool {
	return v.Form == trace.Text || slices.ContainsFunc(v.List, func(inner trace.Value) bool { return hasText(&inner) })
}

// kindOf returns the kind of a string argument.
func kindOf(name string, f *semantics.Function, role semantics.Role) kind {
	switch {
	case name == "MPI_Get_processor_name", name == "MPI_Get_library_version":
		return host
	case role == semantics.PortName, f.Operation == semantics.Port, f.Operation == semantics.NameService:
		return port
	case f.IsFileOperation(), f.Operation == semantics.FileOpen, f.Operation == semantics.FileChange:
		return file
	}
	return text
}
