# The largest eigenvalues of the one-dimensional Laplacian.
import sys
import slepc4py
slepc4py.init(sys.argv)
from petsc4py import PETSc
from slepc4py import SLEPc

n = 2000
A = PETSc.Mat().createAIJ([n, n], nnz=3)
first, last = A.getOwnershipRange()
for i in range(first, last):
    A[i, i] = 2.0
    if i > 0:
        A[i, i - 1] = -1.0
    if i < n - 1:
        A[i, i + 1] = -1.0
A.assemble()
solver = SLEPc.EPS().create()
solver.setOperators(A)
solver.setProblemType(SLEPc.EPS.ProblemType.HEP)
solver.setDimensions(2, 40)
solver.setTolerances(1e-6, 300)
solver.solve()
PETSc.Sys.Print("converged", solver.getConverged(), "largest %.6f" % solver.getEigenvalue(0).real)
