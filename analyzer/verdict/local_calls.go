package verdict

import "fmt"

// localCalls is about calls that neither communicate nor wait for others.
type localCalls struct{ calls }

func (c localCalls) sentence() string {
	if c.Form == Copies {
		return c.costly("copies of data within ranks", "messages")
	}
	return c.costly("local MPI calls", "messages")
}

func (c localCalls) short() string { return c.mostOfAll("local MPI calls") }

func (c localCalls) advice(Neighbors) []string {
	at := c.Before.At()
	if c.Form == Copies {
		return []string{fmt.Sprintf("%s copies data within a rank and sends nothing: send from where the data is (a derived datatype), or copy less of it.", at)}
	}
	return []string{fmt.Sprintf("%s neither sends anything nor waits for others: call it once, before the loop, and keep and reuse what it returns or creates.", at)}
}
