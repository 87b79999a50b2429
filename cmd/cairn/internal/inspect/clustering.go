package inspect

import (
	"fmt"
	"time"

	"github.com/cairn-mpi/cairn/analyzer/clusters"
	"github.com/cairn-mpi/cairn/trace"
)

// clusteringRows prints how the ranks were clustered at run time.
func clusteringRows(c *clusters.Online, row func(name string, value any), calls uint64) {
	if c.Votes == 0 {
		row("mode", c.Text(calls))
		return
	}
	row("mode", fmt.Sprintf("clustered; %d votes at %s", c.Votes, c.Kind()))
	row("  time of votes", fmt.Sprintf("%s per rank, %.1f%% of its run", time.Duration(c.VoteNS).Round(time.Microsecond), 100*c.Share))
	row("  all tracing", c.AllTracing)
	row("  clustering", c.Clusterings)
	row("  lead", c.Lead)
	for _, p := range c.Phases {
		row(fmt.Sprintf("  from marker %d", p.Marker), fmt.Sprintf("leads %s, confirmed %d times", trace.NewRankList(p.Leads), p.Votes))
	}
	if c.Ended {
		row("  ended", "not all ranks reached a marker in time, or they counted markers differently")
	}
	if calls > 0 {
		row("  extrapolated", fmt.Sprintf("%d calls (%.1f%%)", c.Extrapolated, 100*float64(c.Extrapolated)/float64(calls)))
	}
}
