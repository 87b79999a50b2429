package architecture

import (
	"slices"
	"strings"
)

// RoomOf returns the room of a package by its path within the repository, or nil if it belongs to
// none.
func RoomOf(folder string) *Room {
	var found *Room
	longest := -1
	for i := range Rooms {
		for _, f := range Rooms[i].Folders {
			if within(folder, f) && len(f) > longest {
				found, longest = &Rooms[i], len(f)
			}
		}
	}
	return found
}

// within reports whether folder is parent or below it.
func within(folder, parent string) bool {
	return folder == parent || strings.HasPrefix(folder, parent+"/")
}

// Forbidden returns why a package of the room must not import path, or "" if it may.
func (r *Room) Forbidden(path string) string {
	if folder, ours := strings.CutPrefix(path, Module); ours {
		to := RoomOf(folder)
		switch {
		case to == nil:
			return "it is in no room"
		case to != r && !slices.Contains(r.May, to.Name):
			return r.Name + " may not import " + to.Name
		}
		return ""
	}
	for _, m := range restricted {
		for _, prefix := range m.prefixes {
			if !m.may(r) && strings.HasPrefix(path, prefix) {
				return r.Name + " may not import " + prefix + "…"
			}
		}
	}
	if first, _, _ := strings.Cut(path, "/"); r.Outside == StandardOnly && strings.Contains(first, ".") {
		return r.Name + " may import Go's standard library only"
	}
	return ""
}
