package match

// Together combines handlers that share a pass: each event goes to all of them in turn. At most one
// of them may write to a Completion, and at most one may be a Watcher.
func Together(handlers ...Handler) Handler {
	all := together{handlers}
	for _, one := range handlers {
		if w, is := one.(Watcher); is {
			return watchedTogether{all, w}
		}
	}
	return all
}

type together struct{ handlers []Handler }

// Message implements Handler.
func (t together) Message(m *Message) {
	for _, one := range t.handlers {
		one.Message(m)
	}
}

// Collective implements Handler.
func (t together) Collective(c *Collective, part int) {
	for _, one := range t.handlers {
		one.Collective(c, part)
	}
}

// Settled implements Handler.
func (t together) Settled(c *Completion) {
	for _, one := range t.handlers {
		one.Settled(c)
	}
}

// Section implements Sectioner.
func (t together) Section(within bool) {
	for _, one := range t.handlers {
		if s, is := one.(Sectioner); is {
			s.Section(within)
		}
	}
}

type watchedTogether struct {
	together
	watcher Watcher
}

// Posted implements Watcher.
func (t watchedTogether) Posted(e *End) { t.watcher.Posted(e) }

// Progressed implements Watcher.
func (t watchedTogether) Progressed(e *End) { t.watcher.Progressed(e) }

// Entered implements Watcher.
func (t watchedTogether) Entered(c *Collective, part int) { t.watcher.Entered(c, part) }

// Retired implements Watcher.
func (t watchedTogether) Retired(c *Collective) { t.watcher.Retired(c) }

// Opened implements Watcher.
func (t watchedTogether) Opened(c *Completion) { t.watcher.Opened(c) }
