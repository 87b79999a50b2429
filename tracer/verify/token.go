package verify

import (
	"errors"
	"strconv"
	"strings"
)

// A token is a value of the log.
type token struct {
	form    tokenForm
	number  int64   // number, sentinel
	text    string  // text
	list    []token // list, status
	ignored bool    // a status that the application ignores
}

type tokenForm uint8

const (
	undefined tokenForm = iota // -
	null                       // null
	number                     // 12
	sentinel                   // @12, a pointer constant instead of a list
	text                       // "text"
	list                       // [1,2]
	status                     // {source,tag,error,cancelled,bytes}
)

// An argument is a named value of a line.
type argument struct {
	name  string
	value token
	raw   string
}

var errToken = errors.New("not a value of a reference log")

// parseToken reads a whole token.
func parseToken(s string) (token, error) {
	t, rest, err := nextToken(s, 0)
	if err == nil && rest != "" {
		err = errToken
	}
	return t, err
}

const maxTokenDepth = 8

func nextToken(s string, depth int) (t token, rest string, err error) {
	if s == "" || depth > maxTokenDepth {
		return t, "", errToken
	}
	switch {
	case strings.HasPrefix(s, "null"):
		return token{form: null}, s[4:], nil
	case s[0] == '-' && (len(s) == 1 || s[1] < '0' || s[1] > '9'):
		return token{form: undefined}, s[1:], nil
	case s[0] == '~':
		t, rest, err = nextToken(s[1:], depth+1)
		t.ignored = true
		return t, rest, err
	case s[0] == '@':
		t, rest, err = nextToken(s[1:], depth+1)
		if t.form != number {
			return t, "", errToken
		}
		t.form = sentinel
		return t, rest, err
	case s[0] == '"':
		end := strings.IndexByte(s[1:], '"')
		if end < 0 {
			return t, "", errToken
		}
		t.form = text
		t.text, err = unescape(s[1 : 1+end])
		return t, s[end+2:], err
	case s[0] == '[' || s[0] == '{':
		return nextList(s, depth)
	}
	end := 1
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	t.form = number
	t.number, err = strconv.ParseInt(s[:end], 10, 64)
	return t, s[end:], err
}

func nextList(s string, depth int) (t token, rest string, err error) {
	t.form = list
	closing := byte(']')
	if s[0] == '{' {
		t.form, closing = status, '}'
	}
	s = s[1:]
	for {
		if s == "" {
			return t, "", errToken
		}
		if s[0] == closing {
			return t, s[1:], nil
		}
		if len(t.list) > 0 {
			if s[0] != ',' {
				return t, "", errToken
			}
			s = s[1:]
		}
		var element token
		if element, s, err = nextToken(s, depth+1); err != nil {
			return t, "", err
		}
		t.list = append(t.list, element)
	}
}

// unescape undoes %XX.
func unescape(s string) (string, error) {
	if !strings.Contains(s, "%") {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", errToken
		}
		c, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil {
			return "", errToken
		}
		b.WriteByte(byte(c))
		i += 2
	}
	return b.String(), nil
}
