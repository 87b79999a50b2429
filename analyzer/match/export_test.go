package match

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

// CallByCall is InSections, except that sections with a known shape are matched call by call, too.
// It reports whether there were any.
func CallByCall(ctx context.Context, t timeline.Trace, handler Handler, cuts *Cuts, see func(*Call)) (left []Leftover, shaped bool, err error) {
	s, err := newSections(ctx, t, nil, handler, nil)
	if err != nil {
		return nil, false, err
	}
	s.cuts, s.see, s.callByCall = cuts, see, true
	left, err = s.run(ctx)
	return left, s.shapes != nil && s.shapes.slots > 0, err
}
