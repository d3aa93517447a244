// Layers of these tests, over those of the library and built as they are: found by their class, told of losses, and
// ended in reverse order.

#include <aqueduct/aqueduct.hpp>

#include "am/messages.hpp"
#include "coll/barriers.hpp"
#include "core/wait.hpp"
#include "rma/transfers.hpp"
#include "runtime/layers.hpp"
#include "vis/engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::runtime {
namespace {

using aqueduct::detail::EndpointState;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr HandlerId kNote = 12;  // no layer of the library has this number
static_assert(std::ranges::find(am::kLayerHandlers, static_cast<am::LayerHandler>(kNote)) ==
              am::kLayerHandlers.end());

/// Sends notes to other ranks, and adds up the numbers in those that arrive here.
class Notes final : public core::Layer {
 public:
  explicit Notes(EndpointState& state) : busy_(state.busy), state_(state) {
    const auto arrived = [](void*, aqueduct::detail::Incoming& in, const std::byte* args,
                            core::MutableBytes) {
      std::uint64_t number;
      std::memcpy(&number, args, sizeof number);
      in.state.layer<Notes>()->sum_ += number;
    };
    state.messages->add_internal(kNote, AmCategory::short_request, sizeof(std::uint64_t), {arrived, nullptr});
  }

  core::Post send(Rank to, std::uint64_t number) noexcept {
    return state_.messages->try_request(to, AmCategory::short_request, kNote, {&number, sizeof number, 0},
                                        nullptr, {}, core::tokens::kNobody);
  }
  std::uint64_t sum() const noexcept { return sum_; }

  void advance() noexcept override { ++advanced; }
  void peer_lost(Rank peer) noexcept override { lost.push_back(peer); }
  void describe(std::string& text, Rank) const override { text += "; notes are fine"; }

  int advanced = 0;
  std::vector<Rank> lost;
  core::Busy busy_;

 private:
  EndpointState& state_;
  std::uint64_t sum_ = 0;
};

Result<Job> job_of_two() {
  Config config;
  for (const auto& [name, value] : {std::pair<std::string, std::string>{"conduit", "loop"},
                                    {"near", "off"},
                                    {"loop_native", "none"},
                                    {"segment_bytes", "4K"},
                                    {"stall_warn", "1ms"}})
    EXPECT_TRUE(config.set(name, value)) << name;
  return Job::in_process(2, config);
}

TEST(Layers, OfTheLibraryAreFoundByTheirClass) {
  auto job = job_of_two();
  ASSERT_TRUE(job);
  const EndpointState& state = job->endpoint(1).state();
  EXPECT_EQ(state.layer<am::Messages>(), state.messages);
  EXPECT_EQ(state.layer<rma::Transfers>(), state.transfers);
  EXPECT_EQ(state.layer<vis::Engine>(), state.vis);
  EXPECT_EQ(state.layer<coll::Barriers>(), state.barriers);
  EXPECT_EQ(state.layer<Notes>(), nullptr);
}

TEST(Layers, HaveHandlersOfTheirOwn) {
  auto job = job_of_two();
  ASSERT_TRUE(job);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    EndpointState& state = job->endpoint(rank).state();
    Notes& notes = add_layer<Notes>(state);
    EXPECT_EQ(state.layer<Notes>(), &notes);
    EXPECT_TRUE(state.messages->layers_problem());
  }
  job->run_each([](Endpoint& ep) {
    Notes& notes = *ep.state().layer<Notes>();
    ASSERT_NE(notes.send(1 - ep.rank(), 5 + ep.rank()).kind, core::Post::Kind::retry);
    ASSERT_TRUE(core::wait_until(
        ep.state(), [&] { return notes.sum() != 0; }, 1 - ep.rank(), [] { return std::string("a note"); }));
    EXPECT_EQ(notes.sum(), 6 - ep.rank());
  });
  EXPECT_TRUE(job->finish());
}

TEST(Layers, TakePartInProgressReportsAndLosses) {
  auto job = job_of_two();
  ASSERT_TRUE(job);
  Endpoint& me = job->endpoint(0);
  Notes& notes = add_layer<Notes>(me.state());
  me.progress();
  EXPECT_EQ(notes.advanced, 0) << "no layer was busy";
  notes.busy_.set(true);
  me.progress();
  EXPECT_EQ(notes.advanced, 1);
  notes.busy_.set(false);

  testing::internal::CaptureStderr();
  const std::vector<std::byte> from(8);
  Event event = put_nb(me, GlobalPtr<std::byte>{1, 0}, from);
  for (int i = 0; i < 1000 && me.statistics().stalls == 0; ++i)
    EXPECT_EQ(me.wait_for(event, 5ms).code(), ErrorCode::timed_out);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("; notes are fine"));

  EXPECT_THAT(notes.lost, ElementsAre());
  me.state().peer_lost(1);
  EXPECT_THAT(notes.lost, ElementsAre(1));
}

/// A layer that notes its end, and whether the layer before it was still there.
template <int kNumber>
class Ending final : public core::Layer {
 public:
  explicit Ending(EndpointState& state) : state_(state) {}
  ~Ending() override {
    const bool has_lower = kNumber == 1 ? state_.layer<coll::Barriers>() != nullptr
                                        : state_.layer<Ending<kNumber - 1>>() != nullptr;
    ended->push_back(has_lower ? kNumber : -kNumber);
  }
  static inline std::vector<int>* ended = nullptr;

 private:
  EndpointState& state_;
};

TEST(Layers, EndInReverseOrder) {
  std::vector<int> ended;
  Ending<1>::ended = Ending<2>::ended = Ending<3>::ended = &ended;
  {
    auto job = job_of_two();
    ASSERT_TRUE(job);
    EndpointState& state = job->endpoint(0).state();
    add_layer<Ending<1>>(state);
    add_layer<Ending<2>>(state);
    add_layer<Ending<3>>(state);
    EXPECT_TRUE(ended.empty());
  }
  EXPECT_THAT(ended, ElementsAre(3, 2, 1));
}

}  // namespace
}  // namespace aqueduct::runtime
