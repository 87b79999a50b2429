package report

import "cmp"

// viewTimeline is the frame of the time line; chartTimeline fills it.
func viewTimeline(r *Report) any {
	if r.Path == nil || r.Strips == nil {
		return nil
	}
	return struct {
		RunSeconds float64
		Label      string // for those who do not see the picture
		Height     int
		Tile       int // ranks to a row
		Merged     int // short pieces of the path that are shown as parts of others
	}{
		RunSeconds: r.RunSeconds,
		Label:      "Time line of all ranks with the critical path. " + r.Verdict.Text,
		Height:     100 + min(700, max(120, 26*len(r.Ranks))),
		Tile:       max(1, r.Strips.Tile),
		Merged:     r.Path.MergedSegments,
	}
}

// chartTimeline is the ranks' strips and the path; times in seconds.
func chartTimeline(r *Report) any {
	// rank, start, end, kind, function, call site, pieces merged into it, strip
	type segment [8]any
	data := struct {
		Run      float64   `json:"run"`
		Bins     int       `json:"bins"`
		Ranks    []int     `json:"ranks"` // of each strip the first
		Last     []int     `json:"last"`  // and the last
		Hosts    []string  `json:"hosts"`
		Where    []int     `json:"where"` // of Hosts, by strip; −1: several
		MPI      [][]byte  `json:"mpi"`
		Wait     [][]byte  `json:"wait"`
		Segments []segment `json:"segments"`
	}{Run: r.RunSeconds, Bins: max(1, r.Strips.Bins), MPI: r.Strips.MPI, Wait: r.Strips.Wait, Segments: []segment{}}
	number, strip, tile := map[string]int{}, map[int]int{}, max(1, r.Strips.Tile)
	for at, rank := range r.Ranks {
		host := cmp.Or(rank.Pod, rank.Host)
		i, known := number[host]
		if !known {
			i = len(data.Hosts)
			number[host] = i
			data.Hosts = append(data.Hosts, host)
		}
		if at%tile == 0 {
			data.Ranks, data.Last, data.Where = append(data.Ranks, rank.Rank), append(data.Last, rank.Rank), append(data.Where, i)
		}
		n := len(data.Ranks) - 1
		strip[rank.Rank], data.Last[n] = n, rank.Rank
		if data.Where[n] != i {
			data.Where[n] = -1
		}
	}
	for _, s := range r.Path.Segments {
		data.Segments = append(data.Segments, segment{s.Rank, float64(s.StartNS) / 1e9, float64(s.EndNS) / 1e9, s.Kind, s.Function, s.CallSite, s.Merged, strip[s.Rank]})
	}
	return data
}
