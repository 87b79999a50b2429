package plant_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/plant"
)

func TestJudge(t *testing.T) {
	cause := func(kind verdict.Kind, form verdict.Form, ranks string) verdict.Cause {
		return verdict.Cause{Kind: kind, Form: form, Ranks: ranks}
	}
	slow := plant.Planted{Kind: "slow-rank", LossSeconds: 2, Accepted: []plant.Expected{
		{Kind: verdict.Excess, Forms: []verdict.Form{verdict.Always}, Who: []int{2, 4, 6}, Exact: true},
	}}
	some := plant.Planted{Kind: "heavy", LossSeconds: 1.5, Accepted: []plant.Expected{
		{Kind: verdict.Imbalance}, {Kind: verdict.Excess, Who: []int{2, 4, 6}},
	}}
	many := plant.Planted{Kind: "many-messages", LossSeconds: 1, Accepted: []plant.Expected{{Kind: verdict.Messages}}}
	one := plant.Truth{Planted: []plant.Planted{slow}}
	few := plant.Truth{Planted: []plant.Planted{some}}
	two := plant.Truth{Planted: []plant.Planted{slow, many}}  // the first one costs twice as much
	like := plant.Truth{Planted: []plant.Planted{some, many}} // both
	like.Planted[0].LossSeconds = 1.4
	control, crowded := plant.Truth{}, plant.Truth{May: []verdict.Kind{verdict.CPUs}}

	right := cause(verdict.Excess, verdict.Always, "2-6:2")
	messages := cause(verdict.Messages, verdict.TooMany, "")
	nobody := cause(verdict.Nobody, "", "")
	rank := 4
	for name, c := range map[string]struct {
		truth      plant.Truth
		causes     []verdict.Cause
		cause, who bool
	}{
		"right":                        {one, []verdict.Cause{right}, true, true},
		"right, and more":              {one, []verdict.Cause{right, messages}, true, true},
		"another form":                 {one, []verdict.Cause{cause(verdict.Excess, verdict.Sometimes, "2-6:2")}, false, false},
		"another kind":                 {one, []verdict.Cause{messages, right}, false, false},
		"a rank is missing":            {one, []verdict.Cause{cause(verdict.Excess, verdict.Always, "2,4")}, true, false},
		"a rank too many":              {one, []verdict.Cause{cause(verdict.Excess, verdict.Always, "2-6")}, true, false},
		"nobody":                       {one, []verdict.Cause{nobody}, false, false},
		"no causes":                    {one, nil, false, false},
		"one of some":                  {few, []verdict.Cause{cause(verdict.Excess, "", "4")}, true, true},
		"one of some, without a list":  {few, []verdict.Cause{{Kind: verdict.Excess, Rank: &rank}}, true, true},
		"one of some and another":      {few, []verdict.Cause{cause(verdict.Excess, "", "4-5")}, true, false},
		"none of some":                 {few, []verdict.Cause{cause(verdict.Excess, "", "")}, true, false},
		"the alternative":              {few, []verdict.Cause{cause(verdict.Imbalance, verdict.Heavy, "0-7")}, true, true},
		"two":                          {two, []verdict.Cause{right, messages}, true, true},
		"two, with another between":    {two, []verdict.Cause{right, cause(verdict.IO, "", ""), messages}, true, true},
		"two, the smaller first":       {two, []verdict.Cause{messages, right}, false, false},
		"two, one is missing":          {two, []verdict.Cause{right}, true, false},
		"two, wrong ranks":             {two, []verdict.Cause{cause(verdict.Excess, verdict.Always, "2"), messages}, true, false},
		"two, another first":           {two, []verdict.Cause{cause(verdict.IO, "", ""), right, messages}, false, false},
		"two alike":                    {like, []verdict.Cause{messages, cause(verdict.Imbalance, "", "")}, true, true},
		"two alike, the other way":     {like, []verdict.Cause{cause(verdict.Imbalance, "", ""), messages}, true, true},
		"control":                      {control, nil, true, true},
		"control, nobody":              {control, []verdict.Cause{nobody}, true, true},
		"control, a rank":              {control, []verdict.Cause{right}, false, false},
		"control, CPUs":                {control, []verdict.Cause{cause(verdict.CPUs, verdict.TooFew, "")}, false, true},
		"oversubscribed":               {crowded, []verdict.Cause{cause(verdict.CPUs, verdict.TooFew, "")}, true, true},
		"oversubscribed, CPUs of some": {crowded, []verdict.Cause{cause(verdict.CPUs, verdict.TooFew, "3")}, false, false},
		"oversubscribed, the network":  {crowded, []verdict.Cause{cause(verdict.Network, "", "")}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			cause, who, why := plant.Judge(c.causes, c.truth)
			assert.Equal(t, c.cause, cause, why)
			assert.Equal(t, c.who, who, why)
			assert.Equal(t, cause && who, why == "", why)
		})
	}
}
