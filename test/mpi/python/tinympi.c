// SPDX-License-Identifier: Apache-2.0
// An extension of Python that calls MPI, for interpreters that have no mpi4py: with the interpreter's lock and without.
#include <Python.h>
#include <mpi.h>

static PyObject *initialize(PyObject *self, PyObject *arguments)
{
    MPI_Init(NULL, NULL);
    Py_RETURN_NONE;
}

static PyObject *finalize(PyObject *self, PyObject *arguments)
{
    MPI_Finalize();
    Py_RETURN_NONE;
}

static PyObject *held(PyObject *self, PyObject *arguments)
{
    MPI_Barrier(MPI_COMM_WORLD);
    Py_RETURN_NONE;
}

static PyObject *released(PyObject *self, PyObject *arguments)
{
    Py_BEGIN_ALLOW_THREADS
    MPI_Barrier(MPI_COMM_WORLD);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"initialize", initialize, METH_NOARGS, ""}, {"finalize", finalize, METH_NOARGS, ""},
    {"held", held, METH_NOARGS, ""}, {"released", released, METH_NOARGS, ""}, {NULL, NULL, 0, NULL},
};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "tinympi", "", -1, methods};

PyMODINIT_FUNC PyInit_tinympi(void)
{
    return PyModule_Create(&module);
}
