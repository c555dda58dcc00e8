/* A compiled dependency of a package: the mean length of hops. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>

static PyObject *mean_length(PyObject *module, PyObject *hops) {
    Py_ssize_t count = PyObject_Length(hops);
    double total = 0, x, y;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *hop = PySequence_GetItem(hops, i);
        if (hop == NULL || !PyArg_ParseTuple(hop, "dd", &x, &y)) {
            Py_XDECREF(hop);
            return NULL;
        }
        Py_DECREF(hop);
        total += hypot(x, y);
    }
    return count < 0 ? NULL : PyFloat_FromDouble(count ? total / count : 0);
}

static PyMethodDef methods[] = {{"mean_length", mean_length, METH_O, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "hops", NULL, -1, methods};

PyMODINIT_FUNC PyInit_hops(void) { return PyModule_Create(&definition); }
