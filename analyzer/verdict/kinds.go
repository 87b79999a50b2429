package verdict

// words is what is said of a cause, and what it costs. Each kind has a type of its own, in a file
// of its own. What several kinds have in common are methods of Cause.
type words interface {
	sentence() string            // describes the cause, without its gain and the full stop
	gain(run float64) string     // ends the sentence: how much shorter the run would be
	short() string               // a short name of the cause
	advice(n Neighbors) []string // what to do about it
	isOfComputation() bool       // whether it is about the computation of ranks between two calls
	isOfWaits() bool             // whether ranks just wait for a CPU
	isCounted() bool             // whether its gain is what the kernel counted, not what calls show
	charge() Charge              // the time in the ledger that belongs to it
}

// kinds are all kinds of causes.
var kinds = map[Kind]func(c *Cause) words{
	Excess:        func(c *Cause) words { return excess{c} },
	Imbalance:     func(c *Cause) words { return imbalance{c} },
	Variation:     func(c *Cause) words { return variation{c} },
	Serialization: func(c *Cause) words { return serialization{c} },
	LateReceiver:  func(c *Cause) words { return lateReceiver{c} },
	Messages:      unlessLong(func(c calls) words { return messages{c} }),
	Network:       unlessLong(func(c calls) words { return network{c} }),
	Collectives: unlessLong(func(c calls) words {
		if c.Form == Barrier {
			return barrier(c)
		}
		return collectives{c}
	}),
	Local:    unlessLong(func(c calls) words { return localCalls{c} }),
	IO:       unlessLong(func(c calls) words { return files{c} }),
	Kernel:   func(c *Cause) words { return kernel{c} },
	CPUs:     func(c *Cause) words { return cpus{c} },
	StartEnd: func(c *Cause) words { return startEnd{c} },
	Tracer:   func(c *Cause) words { return tracer{c} },
}

func (c *Cause) words() words {
	if of := kinds[c.Kind]; of != nil {
		return of(c)
	}
	return unnamed{c}
}

// unnamed is a kind without words. A Stop says how a run ended.
type unnamed struct{ *Cause }

func (unnamed) sentence() string          { return "" }
func (unnamed) short() string             { return "" }
func (unnamed) advice(Neighbors) []string { return nil }

// Short returns a short name of a cause.
func (c *Cause) Short() string { return c.words().short() }

// Neighbors counts the other ranks of the job that run where a cause's rank runs, and how many of
// them compute longer than the average, too.
type Neighbors struct{ All, Slower int }

// Advice returns what to do about a cause.
func (c *Cause) Advice(n Neighbors) []string { return c.words().advice(n) }

// IsComputation reports whether a cause is about the computation of ranks between two calls.
func (c *Cause) IsComputation() bool { return c.words().isOfComputation() }

// Charge returns the time in the ledger that belongs to a cause.
func (c *Cause) Charge() Charge { return c.words().charge() }

// IsOfWaits reports whether a cause is that ranks just wait for a CPU.
func (c *Cause) IsOfWaits() bool { return c.words().isOfWaits() }

// IsCounted reports whether the gain of a cause is time that the kernel counted for threads without
// a CPU, and not what calls show.
func (c *Cause) IsCounted() bool { return c.words().isCounted() }

// These are those of most kinds.
func (c *Cause) isOfComputation() bool { return false }
func (c *Cause) isOfWaits() bool       { return false }
func (c *Cause) isCounted() bool       { return false }
func (c *Cause) charge() Charge        { return Charge{} }
