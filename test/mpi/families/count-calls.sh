#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes a header that counts the calls of every MPI function named in the given sources. A macro's own name is not
# expanded again inside its expansion, so MPI_Send(...) there calls the real MPI_Send. What mpi.h has as a macro is no call.
functions=$(cat "$@" | grep -oE '\bMPI_[A-Z][a-z0-9_]*\(' | tr -d '(' | sort -u)
echo '#include <mpi.h>'
echo '#include <stdatomic.h>'
echo 'enum {'
for f in $functions; do echo "    called_$f,"; done
echo '    called_functions'
echo '};'
echo 'static atomic_ulong calls[called_functions];'
echo 'static const char *const called_names[] = {'
for f in $functions; do echo "    \"$f\","; done
echo '};'
for f in $functions; do
    echo "#ifndef $f"
    echo "#define $f(...) (atomic_fetch_add(&calls[called_$f], 1), $f(__VA_ARGS__))"
    echo "#endif"
done
