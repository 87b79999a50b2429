//go:build mpi

package verify

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/datatypes"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

const types = `
#include <mpi.h>
#include <stddef.h>
struct particle { double x[3]; int id; char kind; };
static void ask(MPI_Datatype t)
{
	int size;
	MPI_Aint lb, extent;
	MPI_Type_size(t, &size);
	MPI_Type_get_extent(t, &lb, &extent);
	MPI_Type_get_true_extent(t, &lb, &extent);
}
int main(int argc, char **argv)
{
	MPI_Datatype a, b, c, d, e, f, g, h, i, j, k, l;
	MPI_Init(&argc, &argv);
	MPI_Type_contiguous(5, MPI_DOUBLE, &a);
	MPI_Type_vector(4, 2, 7, MPI_INT, &b);
	MPI_Type_create_hvector(3, 1, 64, b, &c);
	MPI_Type_indexed(3, (int[]){1, 0, 4}, (int[]){5, 100, 1}, a, &d);
	MPI_Type_create_hindexed(2, (int[]){2, 1}, (MPI_Aint[]){-16, 40}, MPI_LONG, &e);
	MPI_Type_create_indexed_block(3, 2, (int[]){0, 6, 3}, MPI_FLOAT, &f);
	MPI_Type_create_struct(3, (int[]){3, 1, 1},
		(MPI_Aint[]){offsetof(struct particle, x), offsetof(struct particle, id), offsetof(struct particle, kind)},
		(MPI_Datatype[]){MPI_DOUBLE, MPI_INT, MPI_CHAR}, &g);
	MPI_Type_create_resized(g, -8, 80, &h);
	MPI_Type_contiguous(3, h, &i);
	MPI_Type_create_subarray(3, (int[]){4, 5, 6}, (int[]){2, 3, 2}, (int[]){1, 0, 3}, MPI_ORDER_C, MPI_INT, &j);
	MPI_Type_create_subarray(2, (int[]){4, 5}, (int[]){2, 3}, (int[]){1, 2}, MPI_ORDER_FORTRAN, g, &k);
	MPI_Type_create_struct(2, (int[]){2, 1}, (MPI_Aint[]){0, 40}, (MPI_Datatype[]){b, MPI_DOUBLE_INT}, &l);
	MPI_Datatype all[] = {a, b, c, d, e, f, g, h, i, j, k, l};
	for (int n = 0; n < 12; n++)
		ask(all[n]);
	for (int n = 0; n < 12; n++)
		MPI_Type_free(&all[n]);
	// arrays over a grid of 2 x 3 processes, each process's part of each distribution
	int distributions[][2] = {
		{MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK}, {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK},
		{MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC},
	};
	int arguments[][2] = {
		{MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, {MPI_DISTRIBUTE_DFLT_DARG, 5}, {2, 2},
	};
	for (int n = 0; n < 3; n++)
		for (int order = 0; order < 2; order++)
			for (int rank = 0; rank < 6; rank++) {
				MPI_Type_create_darray(6, rank, 2, (int[]){7, 11}, distributions[n], arguments[n], (int[]){2, 3},
					order ? MPI_ORDER_FORTRAN : MPI_ORDER_C, MPI_DOUBLE, &a);
				ask(a);
				MPI_Type_free(&a);
			}
	MPI_Type_create_darray(4, 3, 3, (int[]){5, 6, 9}, (int[]){MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC},
		(int[]){3, MPI_DISTRIBUTE_DFLT_DARG, 2}, (int[]){2, 1, 2}, MPI_ORDER_C, MPI_INT, &a);
	ask(a);
	MPI_Type_free(&a);
	MPI_Datatype basic[] = {MPI_DOUBLE_INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT, MPI_2INT, MPI_C_DOUBLE_COMPLEX, MPI_WCHAR};
	for (int n = 0; n < 6; n++)
		ask(basic[n]);
	for (int r = 1; r < 19; r += 3) {
		MPI_Type_create_f90_integer(r, &a);
		ask(a);
	}
	MPI_Type_create_f90_real(6, 30, &a);
	ask(a);
	MPI_Type_create_f90_real(15, MPI_UNDEFINED, &a);
	ask(a);
	MPI_Type_create_f90_complex(MPI_UNDEFINED, 200, &a);
	ask(a);
	MPI_Type_contiguous(3, a, &b);
	ask(b);
	MPI_Type_free(&b);
	MPI_Type_dup(MPI_SHORT, &a);
	ask(a);
	MPI_Type_free(&a);
	MPI_Finalize();
	return 0;
}
`

// A derived type can be rebuilt from the trace: its size and bounds are what MPI
// said in the program.
func TestDatatypesAreRebuilt(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "types.c")
	require.NoError(t, os.WriteFile(source, []byte(types), 0o644))
	for _, implementation := range shimtest.Implementations {
		t.Run(implementation, func(t *testing.T) {
			_, directories := compareProgram(t, implementation, 1, shimtest.Compile(t, implementation, source))
			cursor, err := open(t, directories).Cursor(0, 0)
			require.NoError(t, err)
			var known datatypes.Table
			var maps []string
			asked := map[string]int{}
			for cursor.Next() {
				e := cursor.Event()
				if made := known.See(e); made != nil {
					maps = append(maps, made.TypeMap())
				}
				number := func(i int) int64 { return e.Out[i].Int }
				switch e.Function.Name {
				case "MPI_Type_size", "MPI_Type_get_extent", "MPI_Type_get_true_extent":
				default:
					continue
				}
				is, ok := known.Of(&e.In[0])
				require.True(t, ok, e.Text())
				asked[e.Function.Name]++
				switch e.Function.Name {
				case "MPI_Type_size":
					require.Equal(t, number(0), is.Size, "%d: %s", asked["MPI_Type_size"], e.Text())
				case "MPI_Type_get_extent":
					require.Equal(t, []int64{number(0), number(1)}, []int64{is.LB, is.Extent}, "%d: %s", asked["MPI_Type_size"], e.Text())
				case "MPI_Type_get_true_extent":
					require.Equal(t, []int64{number(0), number(1)}, []int64{is.TrueLB, is.TrueUB - is.TrueLB}, "%d: %s", asked["MPI_Type_size"], e.Text())
				}
			}
			require.NoError(t, cursor.Err())
			const questions = 12 + 36 + 1 + 6 + 6 + 4 + 1
			require.Equal(t, map[string]int{"MPI_Type_size": questions, "MPI_Type_get_extent": questions, "MPI_Type_get_true_extent": questions}, asked)
			require.Equal(t, []string{
				"{5 MPI_DOUBLE @0}",
				"{4 {2 MPI_INT @0} every 28 @0}",
				"{3 {4 {2 MPI_INT @0} every 28 @0} every 64 @0}",
				"{{5 MPI_DOUBLE @0} @200, 4 {5 MPI_DOUBLE @0} @40}",
				"{2 MPI_LONG @-16, MPI_LONG @40}",
				"{2 MPI_FLOAT @0, 2 MPI_FLOAT @24, 2 MPI_FLOAT @12}",
				"{3 MPI_DOUBLE @0, MPI_INT @24, MPI_CHAR @28}",
				"{3 MPI_DOUBLE @0, MPI_INT @24, MPI_CHAR @28}",
				"{3 {3 MPI_DOUBLE @0, MPI_INT @24, MPI_CHAR @28} @0}",
				"{2 {3 {2 MPI_INT @12} every 24 @0} every 120 @120}",
			}, maps[:10])
			require.Contains(t, maps, "{{2 {6 {2 {2 MPI_INT @0} every 16 @8} every 36 @0} every 216 @0} @648}")
		})
	}
}
