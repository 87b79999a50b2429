package topology

import (
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/topology"
)

// A picture is a topology laid out in the plane. One unit is the distance of neighbors; y grows
// downward.
type picture struct {
	Points        [][2]float64 // by rank
	Lines         [][4]float64 // from x, y to x, y
	Width, Height float64
	Note          string // what is not drawn
}

// Limits of a picture.
const (
	maxPoints = 4096
	maxLines  = 12_000
)

// newPicture lays out the ranks of a finding. other are the pairs of ranks that communicate; they
// are drawn if the pattern of the finding has no edges of its own. The result is nil if there is
// nothing to draw.
func newPicture(f *topology.Finding, other [][2]int) *picture {
	if f.Ranks < 2 || f.Ranks > maxPoints || f.Family == "" && len(other) == 0 {
		return nil
	}
	edges := f.Edges()
	if edges == nil {
		edges = other
	}
	p := &picture{Points: make([][2]float64, f.Ranks)}
	placed := len(f.Places) == f.Ranks
	lattice := len(f.Dimensions) > 0 && placed && f.Family != topology.Ring && f.Family != topology.Line && f.Family != topology.Hypercube
	switch {
	case f.Family == topology.Hypercube && placed && f.Copies <= 1:
		p.hypercube(f)
	case lattice:
		p.lattice(f)
	case placed && f.Copies > 1:
		p.circles(f)
	case f.Family == topology.Line:
		p.serpentine(inOrder(f))
	case placed && (f.Family == topology.Tree || f.Family == topology.BinomialTree):
		p.tree(f, edges)
	case placed && f.Family == topology.MasterWorker:
		p.star(f)
	default:
		p.circle(inOrder(f))
	}
	p.frame()
	p.connect(edges, lattice)
	return p
}

// inOrder returns the ranks of a finding by copy and coordinates; ranks without coordinates come
// last.
func inOrder(f *topology.Finding) []int {
	ranks := make([]int, f.Ranks)
	for i := range ranks {
		ranks[i] = i
	}
	if len(f.Places) == f.Ranks {
		slices.SortStableFunc(ranks, func(a, b int) int {
			switch {
			case f.Places[a] == nil && f.Places[b] == nil:
				return 0
			case f.Places[a] == nil:
				return 1
			case f.Places[b] == nil:
				return -1
			}
			return slices.Compare(f.Places[a], f.Places[b])
		})
	}
	return ranks
}

// lattice places ranks at their coordinates. The two fastest dimensions make a plane; the planes of
// further dimensions and copies are arranged in rows. Ranks without messages are at the bottom.
func (p *picture) lattice(f *topology.Finding) {
	dimensions := f.Dimensions
	if f.Copies > 1 {
		dimensions = append([]int{f.Copies}, dimensions...)
	}
	n := len(dimensions)
	width, height := float64(dimensions[n-1]), 1.0
	if len(f.Dimensions) > 1 {
		height = float64(dimensions[n-2])
	}
	planes := 1
	for _, d := range dimensions[:n-min(2, len(f.Dimensions))] {
		planes *= d
	}
	// as wide as twice its height
	row := max(1, min(planes, int(math.Round(math.Sqrt(2*float64(planes)*(height+1)/(width+1))))))
	bottom := math.Ceil(float64(planes)/float64(row)) * (height + 1)
	silent := 0
	for rank, at := range f.Places {
		if at == nil {
			p.Points[rank] = [2]float64{float64(silent), bottom}
			silent++
			continue
		}
		plane, y := 0, 0.0
		for i, x := range at[:n-min(2, len(f.Dimensions))] {
			plane = plane*dimensions[i] + x
		}
		if len(f.Dimensions) > 1 {
			y = float64(at[n-2])
		}
		p.Points[rank] = [2]float64{float64(plane%row)*(width+1) + float64(at[n-1]), float64(plane/row)*(height+1) + y}
	}
	if len(f.Dimensions) > 2 {
		p.Note = "Planes of the two fastest dimensions, side by side; lines between planes are not drawn."
	}
}

// hypercube unfolds one dimension after the other, alternately to the right and downward.
func (p *picture) hypercube(f *topology.Finding) {
	steps := make([][2]float64, len(f.Dimensions))
	extent := [2]float64{}
	for i := range steps {
		axis := i % 2
		step := &steps[len(steps)-1-i]
		step[axis] = extent[axis] + 1 + 0.3*float64(i/2)
		step[1-axis] = 0.25 * float64(i/2) // so that lines do not coincide
		extent[axis] += step[axis]
	}
	for rank, at := range f.Places {
		for i, x := range at[max(0, len(at)-len(steps)):] {
			p.Points[rank][0] += float64(x) * steps[i][0]
			p.Points[rank][1] += float64(x) * steps[i][1]
		}
	}
}

// serpentine arranges the ranks of a line in rows of alternating direction, so that neighbors stay
// neighbors.
func (p *picture) serpentine(ranks []int) {
	row := max(16, int(math.Ceil(math.Sqrt(4*float64(len(ranks))))))
	for i, rank := range ranks {
		x, y := i%row, i/row
		if y%2 == 1 {
			x = row - 1 - x
		}
		p.Points[rank] = [2]float64{float64(x), float64(y)}
	}
}

// circle arranges ranks clockwise, the first at the top.
func (p *picture) circle(ranks []int) {
	radius := radius(len(ranks))
	for i, rank := range ranks {
		angle := 2 * math.Pi * float64(i) / float64(len(ranks))
		p.Points[rank] = [2]float64{radius * math.Sin(angle), -radius * math.Cos(angle)}
	}
}

// radius returns the radius of a circle of n ranks.
func radius(n int) float64 { return max(0.7, float64(n)/(2*math.Pi)) }

// circles arranges each copy on a circle of its own, in rows. Ranks in no copy come last.
func (p *picture) circles(f *topology.Finding) {
	groups := make([][]int, f.Copies+1)
	for _, rank := range inOrder(f) {
		copy := f.Copies
		if at := f.Places[rank]; at != nil {
			copy = at[0]
		}
		groups[copy] = append(groups[copy], rank)
	}
	row := int(math.Ceil(math.Sqrt(2 * float64(f.Copies))))
	wide := 2*radius(len(groups[0])) + 1.2
	for i, group := range groups {
		p.circle(group)
		for _, rank := range group {
			p.Points[rank][0] += wide * float64(i%row)
			p.Points[rank][1] += wide * float64(i/row)
		}
	}
}

// star places the master in the center.
func (p *picture) star(f *topology.Finding) {
	ranks := inOrder(f)
	p.circle(ranks[1:])
	p.Points[ranks[0]] = [2]float64{}
}

// tree places parents above the middle of their children.
func (p *picture) tree(f *topology.Finding, edges [][2]int) {
	level := func(rank int) int {
		at := f.Places[rank]
		return at[len(at)-2] // after the copy's number, if there are several
	}
	children := make([][]int, f.Ranks)
	for _, e := range edges {
		up, down := e[0], e[1]
		if level(up) > level(down) {
			up, down = down, up
		}
		children[up] = append(children[up], down)
	}
	free := 0.0
	var place func(rank int)
	place = func(rank int) {
		y := 1.6 * float64(level(rank))
		if len(children[rank]) == 0 {
			p.Points[rank] = [2]float64{free, y}
			free++
			return
		}
		for _, c := range children[rank] {
			place(c)
		}
		first, last := children[rank][0], children[rank][len(children[rank])-1]
		p.Points[rank] = [2]float64{(p.Points[first][0] + p.Points[last][0]) / 2, y}
	}
	for rank := range f.Ranks {
		switch {
		case f.Places[rank] == nil:
			p.Points[rank] = [2]float64{free, 0}
			free++
		case level(rank) == 0:
			place(rank)
		}
	}
}

// frame moves the picture to the origin and measures it.
func (p *picture) frame() {
	least, most := p.Points[0], p.Points[0]
	for _, at := range p.Points {
		for k := range at {
			least[k], most[k] = min(least[k], at[k]), max(most[k], at[k])
		}
	}
	for i := range p.Points {
		for k := range p.Points[i] {
			p.Points[i][k] = round(p.Points[i][k] - least[k])
		}
	}
	p.Width, p.Height = round(most[0]-least[0]), round(most[1]-least[1])
}

// connect draws the edges. In a lattice, a wraparound edge is drawn as a stub at either end, and
// edges to another plane are omitted.
func (p *picture) connect(edges [][2]int, lattice bool) {
	if len(edges) > maxLines {
		p.Note += " There are too many lines to draw them."
		return
	}
	const near, stub = 1.5, 0.45
	for _, e := range edges {
		a, b := p.Points[e[0]], p.Points[e[1]]
		dx, dy := b[0]-a[0], b[1]-a[1]
		length := math.Hypot(dx, dy)
		switch {
		case !lattice || length <= near:
			p.Lines = append(p.Lines, [4]float64{a[0], a[1], b[0], b[1]})
		case p.Note == "" && (dx == 0 || dy == 0):
			sx, sy := round(stub*dx/length), round(stub*dy/length)
			p.Lines = append(p.Lines, [4]float64{a[0], a[1], round(a[0] - sx), round(a[1] - sy)}, [4]float64{b[0], b[1], round(b[0] + sx), round(b[1] + sy)})
		}
	}
}

func round(x float64) float64 { return math.Round(100*x) / 100 }
