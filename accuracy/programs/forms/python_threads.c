/*
 * CPython, where threads share the interpreter's lock. The main thread calls the target eighty times with the lock
 * held, for 8 ms, then releases it for 1 ms of something else. Another thread computes in Python all the time. A thread
 * that has waited 5 ms for the lock asks for it.
 *
 * Truth is measured only.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "../bench.h"

static PyObject *step(PyObject *self, PyObject *arguments) {
  (void)self, (void)arguments;
  WORK(shrunk(100 * US)); // TARGET
  Py_RETURN_NONE;
}

static PyObject *without_lock(PyObject *self, PyObject *arguments) {
  (void)self, (void)arguments;
  Py_BEGIN_ALLOW_THREADS;
  WORK(1000 * US);
  Py_END_ALLOW_THREADS;
  visit();
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"step", step, METH_NOARGS, NULL}, {"without_lock", without_lock, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "bench", .m_size = -1, .m_methods = functions};

static PyObject *import(void) { return PyModule_Create(&module); }

static const char program[] =
    "import bench, threading\n"
    "def other():\n"
    "    while True:\n"
    "        sum(range(1000))\n"
    "threading.Thread(target=other, daemon=True).start()\n"
    "while True:\n"
    "    for _ in range(80):\n"
    "        bench.step()\n"
    "    bench.without_lock()\n";

int main(int argc, char **argv) {
  bench_init(argc, argv);
  PyImport_AppendInittab("bench", import);
  Py_InitializeEx(0);
  return PyRun_SimpleString(program);
}
