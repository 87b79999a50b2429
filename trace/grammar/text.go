package grammar

import (
	"fmt"
	"strings"
)

// String writes one rule a line: "S → 0 A^1000 4". Rule 0 is S; the others are A to Z without S,
// then R26, R27, …
func (g Grammar) String() string {
	var b strings.Builder
	for i, body := range g.Rules {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(ruleName(i) + " →")
		for _, symbol := range body {
			if symbol.IsRule() {
				b.WriteString(" " + ruleName(symbol.Rule()))
			} else {
				fmt.Fprintf(&b, " %d", symbol.Value)
			}
			if symbol.Count != 1 {
				fmt.Fprintf(&b, "^%d", symbol.Count)
			}
		}
	}
	return b.String()
}

func ruleName(rule int) string {
	const letters = "SABCDEFGHIJKLMNOPQRTUVWXYZ"
	if rule < len(letters) {
		return letters[rule : rule+1]
	}
	return fmt.Sprintf("R%d", rule)
}
