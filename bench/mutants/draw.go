package main

import (
	"context"
	"fmt"
	"go/parser"
	"math/rand/v2"
	"slices"
)

// A mutant is one fault. Place is where it was when the list was drawn, for people.
type mutant struct {
	Number     int    `json:"number"`
	Package    string `json:"package"`
	Function   string `json:"function"`
	Operator   string `json:"operator"`
	Source     string `json:"source"`
	Occurrence int    `json:"occurrence"` // among those with the same source in the function
	Place      string `json:"place"`
}

// draw chooses n mutants: equally many of each package and, as far as there are any, of each
// operator. All of them compile.
func draw(ctx context.Context, t *tree, seed uint64, n int) ([]mutant, error) {
	var list []mutant
	if n > maxMutants {
		return nil, fmt.Errorf("-n %d: at most %d mutants at once", n, maxMutants)
	}
	for i, s := range subjects {
		p, err := t.load(s.folder)
		if err != nil {
			return nil, err
		}
		quota := (n*(i+1))/len(subjects) - (n*i)/len(subjects)
		chosen, err := drawFrom(ctx, p, rand.New(rand.NewPCG(seed, uint64(i))), quota)
		if err != nil {
			return nil, err
		}
		list = append(list, chosen...)
	}
	for i := range list {
		list[i].Number = i + 1
	}
	return list, nil
}

func drawFrom(ctx context.Context, p *loaded, random *rand.Rand, n int) ([]mutant, error) {
	var chosen []mutant
	sites := findSites(p)
	random.Shuffle(len(sites), func(i, j int) { sites[i], sites[j] = sites[j], sites[i] })
	byOperator := map[string][]site{}
	var operators []string
	for _, s := range sites {
		if byOperator[s.Operator] == nil {
			operators = append(operators, s.Operator)
		}
		byOperator[s.Operator] = append(byOperator[s.Operator], s)
	}
	slices.Sort(operators)
	random.Shuffle(len(operators), func(i, j int) {
		operators[i], operators[j] = operators[j], operators[i]
	})
	for len(chosen) < n {
		before := len(chosen)
		for _, o := range operators {
			for len(byOperator[o]) > 0 && len(chosen) < n {
				s := byOperator[o][0]
				byOperator[o] = byOperator[o][1:]
				if compiles(p, s) {
					chosen = append(chosen, s.mutant)
					break
				}
			}
		}
		if len(chosen) == before {
			return nil, fmt.Errorf("%s has only %d mutants, fewer than %d", p.folder, before, n)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return chosen, nil
}

func compiles(p *loaded, s site) bool {
	content := s.file.mutated([]site{s})
	syntax, err := parser.ParseFile(p.set, s.file.name, content, parser.SkipObjectResolution)
	if err != nil {
		return false
	}
	_, err = p.check(nil, &source{name: s.file.name, syntax: syntax})
	return err == nil
}
