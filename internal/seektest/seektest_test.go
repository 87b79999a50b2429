package seektest

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
)

// A difference in any field of a call, or of a value anywhere in it, is noticed.
func TestSameComparesEveryField(t *testing.T) {
	for i := range reflect.TypeFor[trace.Value]().NumField() {
		field := reflect.TypeFor[trace.Value]().Field(i)
		var v trace.Value
		change(t, reflect.ValueOf(&v).Elem().Field(i))
		for _, one := range []trace.Event{{In: []trace.Value{v}}, {Out: []trace.Value{v}}, {Return: v},
			{In: []trace.Value{{List: []trace.Value{v}}}}} {
			other := Copy(&one)
			require.True(t, Same(&one, &other))
			switch {
			case one.Return.Form == v.Form && len(one.In)+len(one.Out) == 0:
				other.Return = trace.Value{}
			case len(one.Out) > 0:
				other.Out[0] = trace.Value{}
			case len(one.In[0].List) > 0 && field.Name != "List":
				other.In[0].List[0] = trace.Value{}
			default:
				other.In[0] = trace.Value{}
			}
			require.False(t, Same(&one, &other), field.Name)
		}
	}
	for i := range reflect.TypeFor[trace.Event]().NumField() {
		if field := reflect.TypeFor[trace.Event]().Field(i); field.IsExported() {
			var one, other trace.Event
			change(t, reflect.ValueOf(&other).Elem().Field(i))
			require.False(t, Same(&one, &other), field.Name)
		}
	}
}

// change gives a field a value that is not its zero.
func change(t *testing.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(1)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("x")
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Struct:
		change(t, v.Field(0))
	default:
		t.Fatal(v.Kind())
	}
}
