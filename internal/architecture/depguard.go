package architecture

import (
	"fmt"
	"slices"
	"strings"
)

// A depguardRule is a rule of golangci-lint's depguard: what files may not import. Files are folders, with all below them.
//
// depguard looks at direct imports only, and takes of a list the one prefix that sorts right before the import, so no
// prefix of a list may begin with another one. A path that ends in "$" is whole, and no prefix.
type depguardRule struct {
	name       string
	files, not []string
	allow      []string // if any, nothing else is allowed
	deny       []string
}

// Depguard is the rules of depguard in YAML: one for each room, and one for all modules that only some rooms may import.
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
			fmt.Fprintf(&b, "            - {pkg: %s, desc: docs/architecture.md has who may know whom}\n", d)
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
		case r.Name == testSupport: // it may not know much, but what it tests
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

// nested are the folders within the room's that are other rooms'.
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

// denied are the prefixes of our own packages that depguard refuses to the room. Commands are left out: Go lets nobody
// import them.
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
	// of prefixes that begin with one another, the shortest says all
	return slices.DeleteFunc(slices.Clone(all), func(long string) bool {
		return slices.ContainsFunc(all, func(short string) bool { return short != long && strings.HasPrefix(long, short) })
	})
}

// prefixes are those that a folder and what is below it begin with, and nothing that is allowed. Of a folder that has an
// allowed one below it, it is the folder itself.
func prefixes(folder string, allowed []string) []string {
	path := Module + folder
	switch {
	case slices.ContainsFunc(allowed, func(a string) bool { return within(a, folder) }):
		return []string{path + "$"}
	case slices.ContainsFunc(allowed, func(a string) bool { return strings.HasPrefix(a, folder) }): // as trace and tracer
		return []string{path + "$", path + "/"}
	}
	return []string{path}
}
