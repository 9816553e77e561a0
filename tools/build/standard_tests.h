// standard.h for tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/build/standard.h"
