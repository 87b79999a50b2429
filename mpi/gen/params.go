package main

import (
	"strconv"
	"strings"

	"github.com/cairn-mpi/cairn/mpi"
)

// parseParams reads the parameter lines of a block. If large is set, they get the types of the
// large-count form.
func parseParams(lines []line, large bool) ([]mpi.Param, error) {
	params := make([]mpi.Param, len(lines))
	for i, l := range lines {
		if len(l.fields) < 3 {
			return nil, l.errorf("want `name direction kind`")
		}
		for _, p := range params[:i] {
			if p.Name == l.fields[0] {
				return nil, l.errorf("parameter %s is there twice", p.Name)
			}
		}
		params[i].Name = l.fields[0]
	}
	for i, l := range lines {
		if err := parseParam(l, &params[i], params, large); err != nil {
			return nil, err
		}
	}
	// References to other parameters need all of them.
	for i, l := range lines {
		if err := setRankOf(l, &params[i], params); err != nil {
			return nil, err
		}
	}
	for i, l := range lines {
		if err := checkParam(l, &params[i], params); err != nil {
			return nil, err
		}
	}
	return params, nil
}

func parseParam(l line, p *mpi.Param, all []mpi.Param, large bool) error {
	switch l.fields[1] {
	case "in":
		p.Direction = mpi.In
	case "out":
		p.Direction = mpi.Out
	case "inout":
		p.Direction = mpi.InOut
	default:
		return l.errorf("bad direction %q", l.fields[1])
	}
	var err error
	if p.Kind, p.CType, err = parseKind(l, l.fields[2], large); err != nil {
		return err
	}
	mutable := false
	for _, flag := range l.fields[3:] {
		if strings.HasPrefix(flag, "[") {
			if p.Length.Op != mpi.TermNone {
				return l.errorf("a second length %s", flag)
			}
			if err := parseLength(l, p, flag, all); err != nil {
				return err
			}
			continue
		}
		if flag == "mutable" {
			mutable = true
			continue
		}
		if err := parseFlag(l, p, flag, all); err != nil {
			return err
		}
	}
	p.Const = p.Direction == mpi.In && p.IsPointer() && !p.ByPointer && !mutable &&
		p.Kind != mpi.KindPointer && p.Kind != mpi.KindStrings && p.Kind != mpi.KindArgumentLists
	return nil
}

// parseKind reads `kind`, `kind:type` or `kind:type|largetype`.
func parseKind(l line, s string, large bool) (mpi.Kind, string, error) {
	name, types, typed := strings.Cut(s, ":")
	kind, ok := mpi.KindByName(name)
	if !ok {
		return 0, "", l.errorf("no such kind: %q", name)
	}
	ctype := kind.CType()
	if large {
		ctype = kind.LargeCType()
	}
	if typed {
		small, big, two := strings.Cut(types, "|")
		ctype = small
		if large && two {
			ctype = big
		}
	}
	if ctype == "" {
		return 0, "", l.errorf("kind %s needs a C type", kind)
	}
	return kind, ctype, nil
}

var effects = map[string]mpi.Effect{
	"new":       mpi.EffectNew,
	"existing":  mpi.EffectExisting,
	"freed":     mpi.EffectFreed,
	"completed": mpi.EffectCompleted,
	"started":   mpi.EffectStarted,
	"consumed":  mpi.EffectConsumed,
	"kept":      mpi.EffectKept,
}

func parseFlag(l line, p *mpi.Param, flag string, all []mpi.Param) error {
	if e, ok := effects[flag]; ok {
		p.Effect = e
		return nil
	}
	name, arg, called := strings.Cut(flag, "(")
	if called {
		if !strings.HasSuffix(arg, ")") {
			return l.errorf("bad flag %q", flag)
		}
		arg = strings.TrimSuffix(arg, ")")
	}
	switch {
	case name == "root" && !called:
		p.RootOnly = true
	case name == "nullable" && !called:
		p.Nullable = true
	case name == "by-pointer" && !called:
		p.ByPointer = true
	case name == "or" && called:
		p.Sentinels = strings.Split(arg, ",")
	case name == "unless-inplace" && called:
		i, err := findParam(l, arg, all)
		if err != nil {
			return err
		}
		p.UnlessInPlace = i + 1
	case name == "of" && called:
		i, err := findParam(l, arg, all)
		if err != nil {
			return err
		}
		p.RankOf = i + 1
	case name == "if" && called:
		i, err := findParam(l, arg, all)
		if err != nil {
			return err
		}
		p.OnlyIf = i + 1
	default:
		return l.errorf("no such flag: %q", flag)
	}
	return nil
}

func findParam(l line, name string, all []mpi.Param) (int, error) {
	for i := range all {
		if all[i].Name == name {
			return i, nil
		}
	}
	return 0, l.errorf("no parameter %q", name)
}

// parseLength reads `[term]`, `[term:term]` or `[term][number]`.
func parseLength(l line, p *mpi.Param, s string, all []mpi.Param) error {
	if first, second, ok := strings.Cut(s, "]["); ok {
		n, err := strconv.Atoi(strings.TrimSuffix(second, "]"))
		if err != nil || n <= 0 {
			return l.errorf("bad length %s", s)
		}
		p.Inner = n
		s = first + "]"
	}
	if !strings.HasSuffix(s, "]") {
		return l.errorf("bad length %s", s)
	}
	length, defined, two := strings.Cut(s[1:len(s)-1], ":")
	var err error
	if p.Length, err = parseTerm(l, length, all); err != nil {
		return err
	}
	if two {
		p.Defined, err = parseTerm(l, defined, all)
	}
	return err
}

func parseTerm(l line, s string, all []mpi.Param) (mpi.Term, error) {
	var t mpi.Term
	if s == "null" {
		t.Op = mpi.TermNull
		return t, nil
	}
	if n, err := strconv.Atoi(s); err == nil && n > 0 {
		t.Op, t.Value = mpi.TermNumber, n
		return t, nil
	}
	if base, add, ok := strings.Cut(s, "+"); ok {
		n, err := strconv.Atoi(add)
		if err != nil {
			return t, l.errorf("bad number in %q", s)
		}
		t.Value, s = n, base
	}
	var err error
	if name, arg, called := strings.Cut(s, "("); called {
		op, ok := mpi.TermOpByName(name)
		if !ok || !strings.HasSuffix(arg, ")") {
			return t, l.errorf("bad length term %q", s)
		}
		t.Op = op
		first, second, two := strings.Cut(strings.TrimSuffix(arg, ")"), ",")
		if two != (op == mpi.TermNeighbors) {
			return t, l.errorf("bad number of arguments in %q", s)
		}
		if t.Param, err = findParam(l, first, all); err == nil && two {
			t.Param2, err = findParam(l, second, all)
		}
		return t, err
	}
	if strings.HasPrefix(s, "MPI_") {
		t.Op, t.Name = mpi.TermConstant, s
		return t, nil
	}
	t.Op = mpi.TermParam
	if name, ok := strings.CutPrefix(s, "*"); ok {
		t.Op, s = mpi.TermResult, name
	}
	t.Param, err = findParam(l, s, all)
	return t, err
}
