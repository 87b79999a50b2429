package architecture

import (
	"fmt"
	"slices"
	"strings"
)

// A depguardRule is a rule of golangci-lint's depguard: the imports that are denied to files. Files
// are given as folders, including everything below them.
//
// depguard checks direct imports only. For an import it considers only one prefix of a list, the
// one that sorts right before the import. Therefore no prefix of a list may begin with another one.
// A path that ends in "$" matches only as a whole.
type depguardRule struct {
	name       string
	files, not []string
	allow      []string // if not empty, nothing else is allowed
	deny       []string
}

// Depguard returns the rules of depguard in YAML: one for each room, and one for all modules that
// only some rooms may import.
func Depguard() string {
	var b strings.Builder
	for _, rule := range depguardRules() {
		mode := "lax"
		if rule.allow != nil {
			mode = "strict"
		}
		fmt.Fprintf(&b, "        %s:\n          list-mode: %s\n          files:\n", rule.name, mode)
		for _, f := range rule.files {
			fmt.Fprintf(&b, "            - \"${config-path}/%s/**\"\n", f)
		}
		b.WriteString("            - \"!$test\"\n")
		for _, f := range rule.not {
			fmt.Fprintf(&b, "            - \"!${config-path}/%s/**\"\n", f)
		}
		if rule.allow != nil {
			fmt.Fprintf(&b, "          allow: [%s]\n", strings.Join(rule.allow, ", "))
		}
		if rule.deny != nil {
			b.WriteString("          deny:\n")
		}
		for _, d := range rule.deny {
			fmt.Fprintf(&b, "            - {pkg: %s, desc: docs/architecture.md lists the allowed imports}\n", d)
		}
	}
	return b.String()
}

func depguardRules() []depguardRule {
	var rules []depguardRule
	for _, r := range Rooms {
		rule := depguardRule{name: r.Name, files: r.Folders, not: r.nested()}
		switch {
		case r.Outside == StandardOnly:
			rule.allow = []string{"$gostd"}
			for _, f := range r.Folders {
				rule.allow = append(rule.allow, Module+f)
			}
		case r.Name == testSupport: // it may import little, except what it tests
			continue
		default:
			rule.deny = r.denied()
		}
		rules = append(rules, rule)
	}
	for _, m := range restricted {
		rule := depguardRule{name: m.name, files: []string{"*"}, deny: m.prefixes}
		for _, r := range Rooms {
			if m.may(&r) {
				rule.not = append(rule.not, r.Folders...)
			}
		}
		rules = append(rules, rule)
	}
	return rules
}

// nested returns the folders within the room's that belong to other rooms.
func (r *Room) nested() []string {
	var folders []string
	for _, other := range Rooms {
		for _, f := range other.Folders {
			if other.Name != r.Name && slices.ContainsFunc(r.Folders, func(mine string) bool { return within(f, mine) }) {
				folders = append(folders, f)
			}
		}
	}
	return folders
}

// denied returns the prefixes of the repository's packages that depguard denies to the room.
// Commands are left out, since Go does not allow to import them.
func (r *Room) denied() []string {
	var all []string
	allowed := slices.Clone(r.Folders)
	for _, name := range r.May {
		allowed = append(allowed, room(name).Folders...)
	}
	for _, other := range Rooms {
		if other.Name == r.Name || slices.Contains(r.May, other.Name) {
			continue
		}
		for _, folder := range other.Folders {
			if !within(folder, "cmd") {
				all = append(all, prefixes(folder, allowed)...)
			}
		}
	}
	// of prefixes that begin with one another, the shortest is enough
	return slices.DeleteFunc(slices.Clone(all), func(long string) bool {
		return slices.ContainsFunc(all, func(short string) bool { return short != long && strings.HasPrefix(long, short) })
	})
}

// prefixes returns the prefixes that match a folder and everything below it, but nothing that is
// allowed. If the folder has an allowed one below it, the result is the folder itself as a whole
// path.
func prefixes(folder string, allowed []string) []string {
	path := Module + folder
	switch {
	case slices.ContainsFunc(allowed, func(a string) bool { return within(a, folder) }):
		return []string{path + "$"}
	case slices.ContainsFunc(allowed, func(a string) bool { return strings.HasPrefix(a, folder) }): // such as trace and tracer
		return []string{path + "$", path + "/"}
	}
	return []string{path}
}
