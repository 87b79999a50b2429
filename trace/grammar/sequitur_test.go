package grammar

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cairn-mpi/cairn/trace/internal/limits"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// checkInvariants checks the three properties in the doc comment of Sequitur, and the
// bookkeeping behind them.
func (s *Sequitur) checkInvariants(t testing.TB) {
	t.Helper()
	type digram struct {
		a Symbol
		b Symbol
	}
	seen := map[digram]int32{}
	uses := map[int32]int32{}
	exponent := map[int32]uint64{}
	for _, rule := range s.order() {
		guard := s.rules[rule].guard
		size := 0
		for n := s.nodes[guard].next; n != guard; n = s.nodes[n].next {
			size++
			x, next := s.nodes[n], s.nodes[s.nodes[n].next]
			require.Equal(t, n, next.prev)
			if x.value < 0 {
				uses[ruleOf(x.value)]++
				exponent[ruleOf(x.value)] = max(exponent[ruleOf(x.value)], x.count)
			}
			if next.count == 0 {
				continue
			}
			require.NotEqual(t, x.value, next.value, "neighbors are equal")
			d := digram{Symbol{x.value, x.count}, Symbol{next.value, next.count}}
			if s.nodes[n].next == s.tail() {
				require.NotEqual(t, n, s.digrams.find(s.nodes, n), "the root's last digram is registered")
				continue
			}
			require.Zero(t, seen[d], "digram %v stands twice", d)
			seen[d] = n
			require.Equal(t, n, s.digrams.find(s.nodes, n), "digram %v is not registered", d)
		}
		if rule != 0 {
			require.GreaterOrEqual(t, size, 2, "rule with one symbol")
		}
	}
	require.Equal(t, len(seen), s.digrams.used)
	for _, rule := range s.order()[1:] {
		require.Equal(t, uses[rule], s.rules[rule].uses)
		require.True(t, uses[rule] >= 2 || exponent[rule] >= 2, "useless rule")
	}
	require.Len(t, s.order(), len(uses)+1)
}

// loops makes a random nest of loops, the way programs look.
func loops(r *rand.Rand, depth int) []int32 {
	if depth == 0 || r.IntN(4) == 0 {
		return []int32{int32(r.IntN(6))}
	}
	var sequence []int32
	for range 1 + r.IntN(4) {
		body := loops(r, depth-1)
		for range 1 + r.IntN(5) {
			sequence = append(sequence, body...)
		}
	}
	return sequence
}

func sequences(r *rand.Rand) []int32 {
	switch r.IntN(4) {
	case 0: // random over a small alphabet
		sequence := make([]int32, r.IntN(300))
		alphabet := 1 + r.IntN(4)
		for i := range sequence {
			sequence[i] = int32(r.IntN(alphabet))
		}
		return sequence
	case 1: // periodic, cut off anywhere
		body := loops(r, 2)
		sequence := make([]int32, r.IntN(20*len(body)))
		for i := range sequence {
			sequence[i] = body[i%len(body)]
		}
		return sequence
	case 2: // varying trip counts
		var sequence []int32
		inner := loops(r, 1)
		for range r.IntN(20) {
			for range 1 + r.IntN(7) {
				sequence = append(sequence, inner...)
			}
			sequence = append(sequence, 7)
		}
		return sequence
	default:
		return loops(r, 4)
	}
}

func TestSequiturExpandsToItsInput(t *testing.T) {
	rounds := 600
	if testing.Short() {
		rounds = 100
	}
	for seed := range rounds {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		input := sequences(r)
		s := NewSequitur()
		for i, terminal := range input {
			s.Append(terminal)
			if seed%40 == 0 || i%100 == 0 {
				s.checkInvariants(t)
			}
		}
		s.checkInvariants(t)
		g := s.Grammar()
		require.NoError(t, g.Validate())
		require.Equal(t, uint64(len(input)), s.Len())
		if diff := cmp.Diff(input, g.Expand(0)); len(input) > 0 && diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
	}
}

// After Reset a sequence is like a new one.
func TestSequiturReset(t *testing.T) {
	again := NewSequitur()
	for seed := range 200 {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		again.Reset()
		require.Zero(t, again.Len())
		require.Equal(t, NewSequitur().Grammar(), again.Grammar())
		fresh := NewSequitur()
		for _, terminal := range sequences(r) {
			fresh.Append(terminal)
			again.Append(terminal)
		}
		again.checkInvariants(t)
		require.Equal(t, fresh.Grammar(), again.Grammar())
		require.Equal(t, fresh.Needs(), again.Needs())
		require.LessOrEqual(t, fresh.Needs(), fresh.Bytes()*5/4)
		require.LessOrEqual(t, fresh.Bytes(), again.Bytes(), "it keeps its memory")
	}
}

// A new sequence would need a table of digrams that is as large as that of one that only grew.
func TestSequiturNeedsItsTable(t *testing.T) {
	s := NewSequitur()
	for terminal := range int32(3000) {
		s.Append(terminal)
		require.Equal(t, len(s.digrams.slots), s.digrams.needs(), "%d digrams", s.digrams.used)
	}
}

func TestResumeLeavesNoMark(t *testing.T) {
	rounds := 600
	if testing.Short() {
		rounds = 100
	}
	for seed := range rounds {
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		input := sequences(r)
		straight, resumed := NewSequitur(), NewSequitur()
		for i, terminal := range input {
			straight.Append(terminal)
			resumed.Append(terminal)
			if r.IntN(10) == 0 {
				g := resumed.Grammar()
				var err error
				resumed, err = Resume(g)
				require.NoError(t, err)
				if seed%10 == 0 {
					resumed.checkInvariants(t)
				}
				require.Equal(t, g.String(), resumed.Grammar().String(), "seed %d at %d", seed, i)
			}
		}
		require.Equal(t, straight.Grammar(), resumed.Grammar(), "seed %d", seed)
		require.Equal(t, straight.Len(), resumed.Len())
	}
}

func TestResumeTakesAnyGrammar(t *testing.T) {
	g := Grammar{Rules: [][]Symbol{
		{RuleSymbol(1, 1), RuleSymbol(1, 2), {3, 1}, {3, 2}, RuleSymbol(2, 1)},
		{RuleSymbol(2, 2)},
		{{1, 1}, RuleSymbol(3, 1), {1, 1}},
		{{1, 2}},
	}}
	s, err := Resume(g)
	require.NoError(t, err)
	s.checkInvariants(t)
	s.Append(9)
	s.checkInvariants(t)
	require.Equal(t, append(g.Expand(0), 9), s.Grammar().Expand(0))
}

// The ends of these roots look like the beginning of a rule that Sequitur would predict, but
// loading changes the rules.
func TestResumeTakesGrammarsThatEndLikeARule(t *testing.T) {
	for name, g := range map[string]Grammar{
		"a rule with one symbol": {Rules: [][]Symbol{
			{RuleSymbol(1, 3), RuleSymbol(1, 1), {0, 1}},
			{{0, 2}},
		}},
		"another rule begins like the end of the root, with the same length": {Rules: [][]Symbol{
			{RuleSymbol(1, 2), RuleSymbol(2, 2), {1, 1}, {1, 1}, {2, 1}, {3, 1}},
			{{1, 2}, {2, 1}, {5, 1}, {6, 1}},
			{{1, 1}, {2, 1}, {3, 1}, {4, 1}, {7, 1}},
		}},
		"another rule begins like the end of the root, with another length": {Rules: [][]Symbol{
			{RuleSymbol(1, 2), RuleSymbol(2, 2), {1, 1}, {1, 1}, {2, 1}, {3, 1}},
			{{1, 2}, {2, 1}, {5, 1}, {6, 1}, {8, 1}},
			{{1, 1}, {2, 1}, {3, 1}, {4, 1}, {7, 1}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Resume(g)
			require.NoError(t, err)
			all := g.Expand(0)
			for _, terminal := range []int32{4, 7, 1, 2, 3, 0, 0, 5} {
				require.Equal(t, all, s.Grammar().Expand(0))
				require.Equal(t, uint64(len(all)), s.Len())
				s.Append(terminal)
				s.checkInvariants(t)
				all = append(all, terminal)
			}
		})
	}
}

// Any valid grammar is resumed with the same expansion. Many of these roots end in the beginning of
// a rule.
func TestResumeTakesRandomGrammars(t *testing.T) {
	for seed := range 1500 {
		r := rand.New(rand.NewPCG(uint64(seed), 5))
		n := 1 + r.IntN(4)
		g := Grammar{Rules: make([][]Symbol, n)}
		for i := range g.Rules {
			for range 1 + r.IntN(5) {
				symbol := Symbol{r.Int32N(3), 1 + uint64(r.IntN(2))}
				if i+1 < n && r.IntN(2) == 0 {
					symbol = RuleSymbol(i+1+r.IntN(n-i-1), symbol.Count)
				}
				g.Rules[i] = append(g.Rules[i], symbol)
			}
		}
		if rule := r.IntN(n); rule > 0 {
			if r.IntN(2) == 0 {
				g.Rules[0] = append(g.Rules[0], RuleSymbol(rule, 2), RuleSymbol(rule, 1))
			}
			g.Rules[0] = append(g.Rules[0], g.Rules[rule][:r.IntN(len(g.Rules[rule]))]...)
		}
		s, err := Resume(g)
		require.NoError(t, err)
		s.checkInvariants(t)
		s.Append(9)
		require.Equal(t, append(g.Expand(0), 9), s.Grammar().Expand(0), "seed %d: %s", seed, g)
	}
}

func TestResumeRefusesInvalidGrammars(t *testing.T) {
	_, err := Resume(Grammar{})
	require.ErrorContains(t, err, "no rules")
	_, err = Resume(Grammar{Rules: [][]Symbol{{RuleSymbol(1, 1)}}})
	require.ErrorContains(t, err, "refers to rule 1")
}

func TestGrammarOfLoops(t *testing.T) {
	repeat := func(n int, body ...int32) []int32 {
		var all []int32
		for range n {
			all = append(all, body...)
		}
		return all
	}
	tests := []struct {
		name  string
		input []int32
		want  string
	}{
		{"empty", nil, "S →"},
		{"run", repeat(1000, 4), "S → 4^1000"},
		{"loop", repeat(1000, 1, 2, 3), "S → A^1000\nA → 1 2 3"},
		{"runs in a loop", repeat(50, 1, 1, 2, 2, 2), "S → A^50\nA → 1^2 2^3"},
		{"nested", repeat(20, append(repeat(10, 1, 2), 3)...), "S → A^20\nA → B^10 3\nB → 1 2"},
		{"prologue and epilogue", append(append([]int32{8}, repeat(100, 1, 2, 3)...), 9),
			"S → 8 A^100 9\nA → 1 2 3"},
		{"trip counts", append(append(repeat(3, 1, 2), 7), append(append(repeat(5, 1, 2), 7), repeat(4, 1, 2)...)...),
			"S → A^3 7 A^5 7 A^4\nA → 1 2"},
		{"a loop cut off", append(repeat(10, 1, 2, 3), 1, 2), "S → A^9 A 1 2\nA → 1 2 3"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := NewSequitur()
			for _, terminal := range test.input {
				s.Append(terminal)
			}
			require.Equal(t, test.want, s.Grammar().String())
		})
	}
}

func TestLengthsRefuseOverflow(t *testing.T) {
	g := Grammar{Rules: [][]Symbol{{RuleSymbol(1, 1<<40)}, {{0, 1 << 40}}}}
	require.ErrorContains(t, g.Validate(), "2^63")
	require.ErrorContains(t, Grammar{Rules: [][]Symbol{{RuleSymbol(0, 1)}}}.Validate(), "refers to rule 0")
	require.ErrorContains(t, Grammar{Rules: [][]Symbol{{{0, 0}}}}.Validate(), "exponent 0")
	require.ErrorContains(t, Grammar{Rules: [][]Symbol{{RuleSymbol(1, 2)}, {}}}.Validate(), "empty rule 1")
}

func TestCountsAreThoseOfTheExpansion(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 200 {
		s := NewSequitur()
		want := map[int32]uint64{}
		for _, terminal := range sequences(r) {
			s.Append(terminal)
			want[terminal]++
		}
		got := map[int32]uint64{}
		for _, o := range s.Grammar().Counts(0) {
			got[o.Terminal] = o.Count
		}
		require.Equal(t, want, got)
	}
}

func FuzzSequitur(f *testing.F) {
	f.Add([]byte("abababab"), uint8(3))
	f.Add([]byte("aabaabaabcaabaabaabc"), uint8(5))
	f.Fuzz(func(t *testing.T, input []byte, alphabet uint8) {
		s := NewSequitur()
		want := make([]int32, len(input))
		for i, b := range input {
			want[i] = int32(b % (alphabet%8 + 1))
			s.Append(want[i])
		}
		s.checkInvariants(t)
		g := s.Grammar()
		if len(want) > 0 {
			require.Equal(t, want, g.Expand(0))
		}
		resumed, err := Resume(g)
		require.NoError(t, err)
		require.Equal(t, g, resumed.Grammar())
	})
}

func BenchmarkSequitur(b *testing.B) {
	const n = 1 << 16
	r := rand.New(rand.NewPCG(1, 1))
	steady, fresh, polls, random := make([]int32, n), make([]int32, n), make([]int32, n), make([]int32, 1<<22)
	for i := range n {
		steady[i] = int32(i % 32 % 13)
		if fresh[i] = int32(i % 128); fresh[i] == 127 {
			fresh[i] += int32(r.IntN(100))
		}
		if r.IntN(8) == 0 { // failed polls between receives
			polls[i] = 1 + int32(r.IntN(3))
		}
	}
	for i := range random {
		random[i] = int32(r.IntN(4))
	}
	for _, input := range []struct {
		name      string
		terminals []int32
	}{{"steady loop", steady}, {"something new in every iteration", fresh}, {"polls", polls}, {"random of 4", random}} {
		b.Run(input.name, func(b *testing.B) {
			s := NewSequitur()
			defer limits.ReportCPU(b)()
			for i := 0; i < b.N; i++ {
				s.Append(input.terminals[i&(len(input.terminals)-1)])
			}
			b.ReportMetric(float64(s.Bytes())/float64(b.N), "B/terminal")
		})
	}
}

func ExampleSequitur() {
	s := NewSequitur()
	s.Append(0) // MPI_Init
	for range 1000 {
		s.Append(1) // MPI_Isend
		s.Append(2) // MPI_Irecv
		s.Append(3) // MPI_Waitall
	}
	s.Append(4) // MPI_Finalize
	fmt.Println(s.Grammar())
	// Output:
	// S → 0 A^1000 4
	// A → 1 2 3
}
