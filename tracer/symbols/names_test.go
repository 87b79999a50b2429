package symbols

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadable(t *testing.T) {
	for name, want := range map[string]string{
		"main":                         "main",
		"exchange.isra.0":              "exchange",
		"exchange.part.0.constprop.12": "exchange",
		"_ZN9LAMMPS_NS9CommTiled7forwardEPNS_3FixEi": "LAMMPS_NS::CommTiled::forward",
		"_ZN4Comm4sendIdEEvPKT_i.constprop.0":        "Comm::send<double>",
		"__message_passing_MOD_mp_sum_d":             "message_passing::mp_sum_d",
		"__m_MOD_p.constprop.0":                      "m::p",
		"__MOD_":                                     "__MOD_",
		"rhs_":                                       "rhs_",
		"_ZNot a C++ name":                           "_ZNot a C++ name",
		"_RNvCskwGfYPst2Cb_3foo16example_function":   "foo::example_function",
	} {
		assert.Equal(t, want, readable(name), name)
	}
}

// What templates of templates demangle to can be longer than any memory.
func TestNamesStayShort(t *testing.T) {
	name := "_Z1fI1aIiS_"
	for range 60 {
		name += "S0_S0_"
	}
	assert.LessOrEqual(t, len(readable(name+"EvT_")), max(len(name)+4, 1<<maxName))
}

// A call in each kind of function.
const namesProgram = `#include <cstdio>
#include <cstdlib>
static unsigned long base()
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long a;
	if (!f || fscanf(f, "%lx", &a) != 1) exit(1);
	fclose(f);
	return a;
}
__attribute__((noinline)) void traced() { printf("%lx\n", (unsigned long)__builtin_return_address(0) - base()); }
#define TEXT(x) #x
#define LINE(x) TEXT(x)
#define CALL do { traced(); asm volatile("# " LINE(__LINE__)); } while (0) /* no two functions are the same */
template <typename T> struct Box {};
namespace outer { namespace {
struct Timer {
	Timer() { CALL; }
	virtual ~Timer() { CALL; }
	static void stop() { CALL; }
	Timer &operator<<(int) { CALL; return *this; }
	template <typename T> void send(const Box<T> &) const { CALL; }
};
template <typename T, int N> struct Field { void exchange() { CALL; } };
} }
extern "C" void plain() { CALL; }
static void local() { CALL; }
int main()
{
	{
		outer::Timer t;
		t << 1;
		t.send(Box<double>());
		outer::Timer::stop();
	}
	outer::Field<Box<int>, 3>().exchange();
	plain();
	local();
	[] { CALL; }();
	CALL;
}
`

var lambda = regexp.MustCompile(`{lambda\(\)#1}`) // where only DWARF knows it, it has no number

func TestNamesOfAProgram(t *testing.T) {
	want := []string{"outer::(anonymous namespace)::Timer::Timer", "outer::(anonymous namespace)::Timer::operator<<",
		"outer::(anonymous namespace)::Timer::send<double>", "outer::(anonymous namespace)::Timer::stop", "outer::(anonymous namespace)::Timer::~Timer",
		"outer::(anonymous namespace)::Field<Box<int>, 3>::exchange", "plain", "local", "main::{lambda}::operator()", "main"}
	for name, flags := range map[string][]string{
		"without -g": {"-O0"}, "inlined": {"-O2", "-g"}, "not inlined": {"-O2", "-fno-inline", "-gdwarf-4"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := filepath.Join(t.TempDir(), "names.cc")
			binary := filepath.Join(t.TempDir(), "names")
			require.NoError(t, os.WriteFile(source, []byte(namesProgram), 0o600))
			out, err := exec.Command("g++", append(flags, "-o", binary, source)...).CombinedOutput()
			require.NoError(t, err, string(out))
			table, err := Extract(binary)
			require.NoError(t, err)
			var got []string
			for _, offset := range offsets(t, binary) {
				at, _ := table.Lookup(offset)
				got = append(got, lambda.ReplaceAllString(at.Function, "{lambda}"))
			}
			assert.Equal(t, want, got)
		})
	}
}
