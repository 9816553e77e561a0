// standard.h for sources that speak to Python.
#include <pybind11/pybind11.h>

#include "tools/build/standard.h"
