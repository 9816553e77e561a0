// The queue's thread cannot be started.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>

#include "core/error.h"
#include "core/testing/real_pthread_create.h"
#include "engine/device/device_iteration.h"
#include "engine/testing/fake_ops.h"

namespace {

std::atomic<bool> refuses{false};

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* given) {
  return refuses ? EAGAIN : headrace::RealPthreadCreate(thread, attributes, run, given);
}

namespace headrace {
namespace {

TEST(DeviceThread, ItsLackIsAnErrorThatSaysWhatToDo) {
  FakeGraph graph;
  graph.Add("fake_count", {{"rows", ir::IntValue(5)}});
  IterateOptions options;
  options.device = PlannedDevice{.name = "cpu:0"};
  // Starts the threads of the pools.
  ASSERT_TRUE(DeviceIteration::Start(graph.Build(), options).ok());
  refuses = true;
  const auto refused = DeviceIteration::Start(graph.Build(), options);
  options.pull = true;
  const auto pulled = DeviceIteration::Start(graph.Build(), options);
  refuses = false;
  EXPECT_EQ(KindOf(refused.status()), ErrorKind::kResource);
  EXPECT_THAT(std::string(refused.status().message()),
              ::testing::HasSubstr("no more threads (headrace-device needs one): raise the limit"));
  EXPECT_TRUE(pulled.ok()) << pulled.status();
}

}  // namespace
}  // namespace headrace
