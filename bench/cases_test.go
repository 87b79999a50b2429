package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCases(t *testing.T) {
	all, err := readCases()
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, c := range all {
		assert.Regexp(t, regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`), c.name)
		assert.False(t, seen[c.name], "two cases are called %s", c.name)
		seen[c.name] = true
		for what, text := range map[string]string{
			"what it measures": c.about, "against what": c.against,
			"its target or why it has none": c.target,
		} {
			assert.NotEmpty(t, text, "%s does not say %s", c.name, what)
		}
	}
	for name := range measuring {
		assert.True(t, seen[name], "cases.txt lacks %s", name)
	}
}

func TestParameters(t *testing.T) {
	of, err := chosen([]string{"merge"})
	require.NoError(t, err)
	b := &bench{of: of[0]}
	assert.Equal(t, []string{"1024", "4096", "16384"}, b.words("RANKS"))
	assert.Equal(t, 1, b.number("ROUNDS"))
	assert.False(t, b.given("LARGE"))
	t.Setenv("LARGE", "1")
	assert.True(t, b.given("LARGE"))
	assert.PanicsWithValue(t, "bench/cases.txt: merge has no parameter CALLS",
		func() { b.param("CALLS") })
}

func TestAGroupIsNamedByItsBeginning(t *testing.T) {
	names := func(of []*benchmark) (all []string) {
		for _, c := range of {
			all = append(all, c.name)
		}
		return all
	}
	of, err := chosen([]string{"baseline", "clusters"})
	require.NoError(t, err)
	assert.Equal(t, []string{"baseline-sizes", "baseline-commands", "baseline-instructions",
		"clusters"}, names(of))
	of, err = chosen([]string{"trace-clock"})
	require.NoError(t, err)
	assert.Equal(t, []string{"trace-clock"}, names(of))
	_, err = chosen([]string{"cluster"})
	assert.ErrorContains(t, err, "make bench lists them")
}

func TestTreesMustBeBuilt(t *testing.T) {
	_, err := openTrees([]string{t.TempDir()})
	assert.ErrorContains(t, err, "run make build in it")
}

func TestReport(t *testing.T) {
	var table, results strings.Builder
	r := report{to: &table, results: &results}
	require.NoError(t, r.add("short", "infos", "", val("alone, s", 0.5),
		val("added, s", 1.25).atMost(1)))
	require.NoError(t, r.add("short", "dims", "", val("alone, s", 1234.5),
		val("added, s", 1).atMost(1)))
	require.NoError(t, r.add("short", "all", "two of three", val("of them", 2).equals(3)))
	assert.Equal(t, "short                                          alone, s                added, s\n"+
		"infos                                               0.5      1.25 (<= 1 MISSED)\n"+
		"dims                                               1234            1 (<= 1 met)\n"+
		"short                                                        of them\n"+
		"all                                                   2 (= 3 MISSED)  two of three\n",
		table.String())
	assert.Equal(t, `{"case":"short","row":"infos","value":"alone, s","amount":0.5,"met":true}
{"case":"short","row":"infos","value":"added, s","amount":1.25,"target":"<= 1","met":false}
`, strings.Join(strings.SplitAfter(results.String(), "\n")[:2], ""))
	assert.Equal(t, [2]int{3, 2}, [2]int{r.judged, r.missed})
	assert.ErrorContains(t, r.add("short", "infos", "", val("growth", 0.0/zero)),
		"a measurement is missing")
	assert.ErrorContains(t, summary([]*tree{{report: r}}, 0),
		"2 of 3 targets are missed, 0 runs of cases failed")
	assert.ErrorContains(t, summary(nil, 1), "1 runs of cases failed")
	assert.NoError(t, summary(nil, 0))
}

var zero float64

func TestTargets(t *testing.T) {
	for _, c := range []struct {
		v      value
		target string
		met    bool
	}{
		{val("", 2).atMost(2), "<= 2", true},
		{val("", 2).atMost(1.5), "<= 1.50", false},
		{val("", 2).atLeast(2), ">= 2", true},
		{val("", 2).atLeast(3), ">= 3", false},
		{val("", -2).within(2), "within 2", true},
		{val("", -2.5).within(2), "within 2", false},
		{val("", 2).equals(2), "= 2", true},
		{val("", 2).equals(3), "= 3", false},
		{val("", 2), "", true},
	} {
		assert.Equal(t, c.target, c.v.Target)
		assert.Equal(t, c.met, c.v.Met, c.target)
	}
}

func TestDigits(t *testing.T) {
	for x, want := range map[float64]string{
		12345.6: "12346", 123: "123", 12.34: "12.3", 99.96: "100", 1.234: "1.23", 0.01234: "0.0123",
		-0.5: "-0.5", 0: "0", 1e9: "1000000000",
	} {
		assert.Equal(t, want, digits(x))
	}
}
