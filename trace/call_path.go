package trace

// CallPath yields a call site and then its callers, from the innermost outwards. Without call paths that is the site
// alone.
func CallPath(sites []Site, site *Site) func(yield func(*Site) bool) {
	return func(yield func(*Site) bool) {
		for site != nil {
			if !yield(site) {
				return
			}
			if site.Caller == 0 || int(site.Caller) > len(sites) {
				return
			}
			site = &sites[site.Caller-1]
		}
	}
}

// CallPath yields where the call was made, from the innermost place outwards; nothing where that is not known.
func (e *Event) CallPath(yield func(*Site) bool) { CallPath(e.sites, e.Site)(yield) }

// appendCallPath writes the places outside of the call site, separated by commas.
func (e *Event) appendCallPath(b []byte) []byte {
	first, own := true, true
	for s := range e.CallPath {
		if own {
			own = false
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = s.appendJSON(b)
	}
	return b
}
