package counts

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPrintedAndDecoded(t *testing.T) {
	printed, err := Printed("hello\ncounts rank=1 MPI_Send=2\ncounts rank=1 MPI_Recv=1\n")
	require.NoError(t, err)
	decoded, err := Decoded(`{"rank":1,"function":"MPI_Send"}
{"rank":1,"function":"MPI_Recv"}
{"rank":1,"function":"MPI_Send"}
`)
	require.NoError(t, err)
	require.Equal(t, printed, decoded)
	require.Equal(t, uint64(3), decoded.Calls())
	_, err = Printed("counts rank=x\n")
	require.Error(t, err)
	_, err = Printed("counts rank=1 MPI_Send=-1\n")
	require.Error(t, err)
	_, err = Decoded("oops\n")
	require.Error(t, err)
}
