package trace

import "slices"

// A callPlan is what a cursor needs to know of a signature and is the same on all threads.
type callPlan struct {
	function *Function
	site     *Site
	comm     int  // position in In of the call's communicator, −1
	newComm  int  // position in Out of a communicator handle, −1
	variable bool // some value depends on the thread or the call: a stream or an elastic value
	creates  bool // Signature.Communicator is a stream
}

// planCalls makes the plans of all signatures.
func planCalls(c *Content) []callPlan {
	plans := make([]callPlan, len(c.Signatures))
	for i := range c.Signatures {
		s := &c.Signatures[i]
		p := &plans[i]
		p.function = c.function(s.Function)
		if s.Site > 0 {
			p.site = &c.Sites[s.Site-1]
		}
		p.comm, p.newComm = -1, -1
		in, out := 0, 0
		for _, parameter := range p.function.Parameters {
			comm := parameter.Kind == "comm" && !parameter.List
			if parameter.Direction != Out {
				if comm && p.comm < 0 && in < len(s.In) {
					p.comm = in
				}
				in++
			}
			if parameter.Direction != In {
				if comm && p.newComm < 0 && out < len(s.Out) {
					p.newComm = out
				}
				out++
			}
		}
		p.creates = s.Communicator.Form == Stream
		p.variable = isVariable(s.Return) || slices.ContainsFunc(s.In, isVariable) || slices.ContainsFunc(s.Out, isVariable)
	}
	return plans
}

// isVariable tells whether a value must be looked up anew for every call or thread.
func isVariable(v Value) bool {
	switch v.Form {
	case Stream, ListStream, RankOffset, Elastic, Column:
		return true
	case List, Status:
		return slices.ContainsFunc(v.List, isVariable)
	}
	return false
}
