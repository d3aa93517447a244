// Layers of these tests, over those of the library and built as they are: found by their class, told of losses, with
// rows in the statistics, and ended in reverse order.

#include <aqueduct/aqueduct.hpp>

#include "am/messages.hpp"
#include "coll/barriers.hpp"
#include "core/wait.hpp"
#include "rma/transfers.hpp"
#include "runtime/layers.hpp"
#include "vis/piece_transfers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <string_view>
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
    state.add_statistics({{"notes", "units", &sum_}});
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

const StatisticsRow* row_of(const Endpoint& ep, std::string_view name) {
  const auto found = std::ranges::find(ep.statistics_rows(), name, &StatisticsRow::name);
  return found != ep.statistics_rows().end() ? &*found : nullptr;
}

TEST(Layers, OfTheLibraryAreFoundByTheirClass) {
  auto job = job_of_two();
  ASSERT_TRUE(job);
  const EndpointState& state = job->endpoint(1).state();
  EXPECT_EQ(state.layer<am::Messages>(), state.messages);
  EXPECT_EQ(state.layer<rma::Transfers>(), state.transfers);
  EXPECT_EQ(state.layer<vis::PieceTransfers>(), state.vis);
  EXPECT_EQ(state.layer<coll::Barriers>(), state.barriers);
  EXPECT_EQ(state.layer<Notes>(), nullptr);
}

TEST(Layers, HaveHandlersAndCountersOfTheirOwn) {
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
    const StatisticsRow* row = row_of(ep, "notes");
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(row->unit, "units");
    EXPECT_EQ(*row->counter, 6 - ep.rank());
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

// Each counter of the public struct has one row, under the name of its member. Layers have further ones.
TEST(StatisticsRows, AreCompleteAndHaveTheNamesOfTheStruct) {
  auto job = job_of_two();
  ASSERT_TRUE(job);
  const Endpoint& me = job->endpoint(0);
  const Statistics& counts = job->endpoint(0).state().statistics;
  const auto* const first = reinterpret_cast<const std::uint64_t*>(&counts);
  constexpr std::size_t kCounters = sizeof(Statistics) / sizeof(std::uint64_t);
  std::set<std::string_view> names;
  std::map<const std::uint64_t*, int> rows;
  for (const StatisticsRow& row : me.statistics_rows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.unit.empty()) << row.name;
    ++rows[row.counter];
  }
  EXPECT_GE(rows.size(), kCounters);
  for (std::size_t i = 0; i < kCounters; ++i) EXPECT_EQ(rows[first + i], 1) << "counter " << i;
  using Counter = std::uint64_t Statistics::*;
  const std::pair<std::string_view, Counter> members[] = {
      {"packets_sent", &Statistics::packets_sent},
      {"packets_received", &Statistics::packets_received},
      {"payload_bytes_sent", &Statistics::payload_bytes_sent},
      {"retries", &Statistics::retries},
      {"deferred", &Statistics::deferred},
      {"native_puts", &Statistics::native_puts},
      {"native_gets", &Statistics::native_gets},
      {"reference_puts", &Statistics::reference_puts},
      {"reference_gets", &Statistics::reference_gets},
      {"native_atomics", &Statistics::native_atomics},
      {"reference_atomics", &Statistics::reference_atomics},
      {"handlers_run", &Statistics::handlers_run},
      {"vis_direct", &Statistics::vis_direct},
      {"vis_pieces", &Statistics::vis_pieces},
      {"vis_packed", &Statistics::vis_packed},
      {"vis_box", &Statistics::vis_box},
      {"vis_native", &Statistics::vis_native},
      {"vis_messages", &Statistics::vis_messages},
      {"vis_description_bytes", &Statistics::vis_description_bytes},
      {"vis_as_strides", &Statistics::vis_as_strides},
      {"vis_as_offsets", &Statistics::vis_as_offsets},
      {"vis_as_pieces", &Statistics::vis_as_pieces},
      {"rejected", &Statistics::rejected},
      {"sleeps", &Statistics::sleeps},
      {"stalls", &Statistics::stalls},
  };
  for (const auto& [name, member] : members) {
    const StatisticsRow* const row = row_of(me, name);
    ASSERT_NE(row, nullptr) << name;
    EXPECT_EQ(row->counter, &(counts.*member)) << name;
  }
}

}  // namespace
}  // namespace aqueduct::runtime
