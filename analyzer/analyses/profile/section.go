package profile

import (
	"cmp"
	"embed"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"

	"github.com/cairn-mpi/cairn/analyzer/profile"
	"github.com/cairn-mpi/cairn/analyzer/report/section"
)

//go:embed messages.html.tmpl messages.js
var files embed.FS

// Sections are the traffic between ranks.
var Sections = []section.Section{{Name: "messages", Title: "Messages", Files: files, View: view, Chart: chart}}

// messagesView is the frame of the communication matrix, and its heaviest tiles.
type messagesView struct {
	profile.Matrix
	Label, Words string
	Height       int
	Heaviest     []profile.Tile
}

func view(r *section.Run) any {
	p := section.Of[Findings](r).Profile
	if p == nil || len(p.Matrix.Cells) == 0 {
		return nil
	}
	v := messagesView{Matrix: p.Matrix, Heaviest: slices.Clone(p.Matrix.Cells)}
	slices.SortStableFunc(v.Heaviest, func(a, b profile.Tile) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Calls, a.Calls))
	})
	var calls, volume uint64
	for _, c := range v.Cells {
		calls += c.Calls
		volume += c.Bytes
	}
	v.Heaviest = section.First(v.Heaviest, 20)
	pairs := "pairs of ranks"
	if v.Tile > 1 {
		pairs = "tiles"
	}
	v.Words = fmt.Sprintf("%d messages with %s, in %d of %d %s.", calls, humanize.IBytes(volume), len(v.Cells), side(v.Matrix)*side(v.Matrix), pairs)
	v.Label = fmt.Sprintf("Communication matrix. %s The most bytes go from rank %s to rank %s. The table below has the largest entries.",
		v.Words, v.Ranks(v.Heaviest[0].From), v.Ranks(v.Heaviest[0].To))
	v.Height = 54 + min(520, max(240, 24*side(v.Matrix)))
	return v
}

// Ranks returns the ranks of a tile.
func (v messagesView) Ranks(tile int) string {
	from := tile * v.Tile
	to := min(v.Matrix.Ranks, from+v.Tile) - 1
	if from == to {
		return fmt.Sprint(from)
	}
	return fmt.Sprintf("%d–%d", from, to)
}

// side returns the number of tiles in a row of the matrix.
func side(m profile.Matrix) int { return (m.Ranks + m.Tile - 1) / max(1, m.Tile) }

// chart returns the matrix row by row. Consecutive tiles with equal traffic are joined, so that a
// full matrix is short, too.
func chart(r *section.Run) any {
	m := section.Of[Findings](r).Profile.Matrix
	// tiles without messages before it, number of consecutive equal tiles, messages, bytes
	type run [4]uint64
	data := struct {
		Ranks int   `json:"ranks"`
		Tile  int   `json:"tile"`
		Side  int   `json:"side"`
		Runs  []run `json:"runs"`
	}{Ranks: m.Ranks, Tile: m.Tile, Side: side(m)}
	next := uint64(0)
	for _, c := range m.Cells {
		at := uint64(c.From*data.Side + c.To)
		gap := at - next
		next = at + 1
		if n := len(data.Runs); n > 0 && gap == 0 && data.Runs[n-1][2] == c.Calls && data.Runs[n-1][3] == c.Bytes {
			data.Runs[n-1][1]++
			continue
		}
		data.Runs = append(data.Runs, run{gap, 1, c.Calls, c.Bytes})
	}
	return data
}
