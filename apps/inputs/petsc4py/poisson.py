# Solves a Poisson equation with conjugate gradients and multigrid; -log_view counts its messages.
import sys
import petsc4py
petsc4py.init(sys.argv)
from petsc4py import PETSc

n = 65
da = PETSc.DMDA().create([n, n], stencil_width=1, dof=1)
A = da.createMatrix()
(xs, xe), (ys, ye) = da.getRanges()
row, col = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
for j in range(ys, ye):
    for i in range(xs, xe):
        row.index = (i, j)
        for di, dj, value in ((0, 0, 4.0), (-1, 0, -1.0), (1, 0, -1.0), (0, -1, -1.0), (0, 1, -1.0)):
            if 0 <= i + di < n and 0 <= j + dj < n:
                col.index = (i + di, j + dj)
                A.setValueStencil(row, col, value)
A.assemble()
b, x = A.createVecs()
b.set(1.0 / (n * n))
solver = PETSc.KSP().create()
solver.setOperators(A)
solver.setType("cg")
solver.getPC().setType("bjacobi")
solver.setTolerances(rtol=1e-8)
for _ in range(5):
    x.set(0)
    solver.solve(b, x)
PETSc.Sys.Print("iterations", solver.getIterationNumber(), "norm %.8f" % x.norm())
