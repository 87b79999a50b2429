package funcname_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace/funcname"
)

func TestShort(t *testing.T) {
	long := strings.Repeat("abcdefgh", 5)
	for _, c := range []struct{ name, want string }{
		{"main", "main"},
		{"std::vector<int>::push_back", "std::vector<int>::push_back"},
		{"ns::Field<ns::Box<double, " + long + ">, 3>::exchange", "ns::Field<ns::Box<…>, 3>::exchange"},
		{"ns::Field<" + long + ", " + long + ">::exchange", "ns::Field<…>::exchange"},
		{"Field<" + long + ">::operator<<", "Field<" + long + ">::operator<<"},
		{"Field<" + long + long + ">::operator<< <" + long + ">", "Field<…>::operator<< <…>"},
		{"a::operator-><" + long + long + ">", "a::operator-><…>"},
		{"begin_" + long + long + "_end", "begin_abcdefghabcdef…" + (long + long)[len(long+long)-39:] + "_end"},
	} {
		assert.Equal(t, c.want, funcname.Short(c.name))
	}
}

// TestText: instances of a template have one text, different functions have not.
func TestText(t *testing.T) {
	for name, want := range map[string]string{
		"main":                                "main",
		"C<int>::send":                        "C::send",
		"C<std::list<int> >::recv":            "C::recv",
		"f<int>":                              "f",
		"C<int>::operator<":                   "C::operator<",
		"C<int>::operator<< <char>":           "C::operator<< ",
		"<T as Tr>::f":                        "<T as Tr>::f",
		"core::iter::<impl A for B<C>>::next": "core::iter::<impl A for B<C>>::next",
		"a::{lambda(int)#1}::operator()<X>":   "a::{lambda(int)#1}::operator()",
		"unbalanced<int":                      "unbalanced<int",
	} {
		assert.Equal(t, want, funcname.Text(name))
	}
}

// Whatever the name: it is short, valid, begins and ends as before, and a short one stays.
func TestShortOfAnyName(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 29))
	parts := []string{"<", ">", "::", "operator", "->", "foo", "é", " ", ",", "(", ")", "{lambda()#1}", "averylongpartofaname"}
	for range 20000 {
		var b strings.Builder
		for range random.IntN(40) {
			b.WriteString(parts[random.IntN(len(parts))])
		}
		name := b.String()
		short := funcname.Short(name)
		require.LessOrEqual(t, utf8.RuneCountInString(short), funcname.Max, name)
		require.True(t, utf8.ValidString(short), name)
		if utf8.RuneCountInString(name) <= funcname.Max {
			require.Equal(t, name, short)
		} else {
			require.Contains(t, short, "…", name)
			require.Equal(t, strings.Count(strings.SplitN(short, "…", 2)[0], ""), strings.Count(commonPrefix(short, name), ""), name)
		}
	}
}

func commonPrefix(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}
