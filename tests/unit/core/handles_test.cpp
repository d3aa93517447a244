#include "core/handles.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace aqueduct::core {
namespace {

TEST(Handles, AreUsedAgainOnceTheirThingIsGone) {
  Handles<std::unique_ptr<int>> handles;
  EXPECT_EQ(handles.add(std::make_unique<int>(10)), 0u);
  EXPECT_EQ(handles.add(std::make_unique<int>(11)), 1u);
  EXPECT_EQ(handles.add(std::make_unique<int>(12)), 2u);
  EXPECT_EQ(*handles[1], 11);
  EXPECT_EQ(*handles.remove(1), 11);
  EXPECT_EQ(handles[1], nullptr);
  EXPECT_EQ(*handles.remove(0), 10);
  EXPECT_EQ(*handles[2], 12) << "the others keep theirs";
  EXPECT_LT(handles.add(std::make_unique<int>(20)), 2u);
  EXPECT_LT(handles.add(std::make_unique<int>(21)), 2u);
  EXPECT_EQ(handles.add(std::make_unique<int>(22)), 3u);
  EXPECT_EQ(handles.all().size(), 4u);
}

}  // namespace
}  // namespace aqueduct::core
