// `notify` wakes the target of a put or an atomic on mapped memory, and only then.

#include <aqueduct/aqueduct.hpp>

#include "core/endpoint_state.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <utility>
#include <vector>

namespace aqueduct {
namespace {

class Notify : public testing::Test {
 protected:
  void SetUp() override {
    Config config;
    for (const auto& [name, value] :
         {std::pair{"conduit", "loop"}, {"near", "off"}, {"loop_native", "all"}, {"segment_bytes", "4K"}})
      ASSERT_TRUE(config.set(name, value)) << name;
    auto made = Job::in_process(2, config);
    ASSERT_TRUE(made);
    job_.emplace(std::move(*made));
  }
  Endpoint& me() { return job_->endpoint(0); }
  std::uint64_t notifications() { return me().state().notifications.load(); }

  std::optional<Job> job_;
};

TEST_F(Notify, IsDoneByEachFormOnAMappedNeighbour) {
  std::array<std::uint64_t, 2> values{1, 2};
  const GlobalPtr<std::uint64_t> there{1, 64};
  ASSERT_NE(me().local(there), nullptr) << "the neighbour is not mapped";
  const std::vector<std::function<void(bool)>> calls{
      [&](bool notify) { EXPECT_TRUE(put(me(), there, values, {.notify = notify})); },
      [&](bool notify) { EXPECT_TRUE(put_nb(me(), there, values, {.notify = notify}).done()); },
      [&](bool notify) { EXPECT_TRUE(put_nbi(me(), there, values, {.notify = notify})); },
      [&](bool notify) { EXPECT_TRUE(put_value(me(), there, 5, {.notify = notify})); },
      [&](bool notify) { EXPECT_TRUE(put_value_nb(me(), there, 5, {.notify = notify}).done()); },
      [&](bool notify) { EXPECT_TRUE(put_value_nbi(me(), there, 5, {.notify = notify})); },
      [&](bool notify) {
        EXPECT_TRUE(atomic_nb<AtomicOp::add>(me(), there, 1, nullptr, {.notify = notify}).done());
      },
      [&](bool notify) {
        EXPECT_TRUE(atomic_nbi<AtomicOp::add>(me(), there, 1, nullptr, {.notify = notify}));
      }};
  for (std::size_t i = 0; i < calls.size(); ++i) {
    SCOPED_TRACE(i);
    const std::uint64_t before = notifications();
    calls[i](false);
    EXPECT_EQ(notifications(), before);
    calls[i](true);
    EXPECT_EQ(notifications(), before + 1);
  }
}

TEST_F(Notify, IsDoneByThePutThatMapsTheNeighbour) {
  EXPECT_TRUE(put_value(me(), GlobalPtr<int>{1, 0}, 5, {.notify = true}));
  EXPECT_EQ(notifications(), 1u);
}

TEST_F(Notify, IsNothingForMyself) {
  EXPECT_TRUE(put_value(me(), GlobalPtr<int>{0, 0}, 5, {.notify = true}));
  EXPECT_EQ(notifications(), 0u);
}

}  // namespace
}  // namespace aqueduct
