package skeleton

// A series is a list of numbers. It takes constant space while all are equal.
type series struct {
	n    int
	same int32
	list []int32 // nil: n times same
}

func (s *series) add(v int32) {
	switch {
	case s.n == 0:
		s.same = v
	case s.list != nil:
		s.list = append(s.list, v)
	case v != s.same:
		s.list = make([]int32, s.n, 2*s.n+1)
		for i := range s.list {
			s.list[i] = s.same
		}
		s.list = append(s.list, v)
	}
	s.n++
}

// cycle returns a short list that generates the series when it is repeated; the last repetition may
// be incomplete.
func (s *series) cycle() []int32 {
	if s.list == nil {
		return []int32{s.same}[:min(1, s.n)]
	}
	if n := period(s.list); n <= len(s.list)/2 {
		return s.list[:n]
	}
	return s.list
}

// shortest returns the shortest list that generates another one when it is repeated.
func shortest[T comparable](list []T) []T {
	if n := period(list); n > 0 && len(list)%n == 0 {
		return list[:n]
	}
	return list
}

// period returns the period of a list (the failure function of Knuth, Morris and Pratt).
func period[T comparable](list []T) int {
	if len(list) == 0 {
		return 0
	}
	border := make([]int, len(list))
	for i := 1; i < len(list); i++ {
		b := border[i-1]
		for b > 0 && list[b] != list[i] {
			b = border[b-1]
		}
		if list[b] == list[i] {
			b++
		}
		border[i] = b
	}
	return len(list) - border[len(list)-1]
}
