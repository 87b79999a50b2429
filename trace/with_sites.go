package trace

import "slices"

// WithSites returns the signature with every call site replaced: where the call was made, and the functions among its
// arguments. replace is given 1 + the index of a site, and returns what stands in its place.
func (s Signature) WithSites(replace func(uint32) uint32) Signature {
	if s.Site > 0 {
		s.Site = replace(s.Site)
	}
	for _, values := range []*[]Value{&s.In, &s.Out} {
		for i, v := range *values {
			if v.Form == Code {
				mapped := slices.Clone(*values)
				mapped[i].Int = int64(replace(uint32(v.Int)))
				*values = mapped
			}
		}
	}
	return s
}
