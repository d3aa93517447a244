#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/symmetric.hpp"
#include "coll/model/symmetric.hpp"
#include "sim/closed_forms.hpp"
#include "sim/plot.hpp"
#include "sim/simulate.hpp"
#include "sim/trace.hpp"
#include "tests/support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <tuple>
#include <vector>

namespace aqueduct::sim {
namespace {

using testing::AllOf;
using testing::HasSubstr;

coll::Shape shape_for(const coll::Algorithm& algorithm, Rank ranks, std::uint64_t bytes, coll::Sync sync) {
  coll::Shape shape;
  shape.operation = algorithm.operation;
  shape.in = shape.out = sync;
  shape.addresses = coll::Addresses::single;
  shape.ranks = ranks;
  shape.bytes = shape.pitch = algorithm.operation == coll::Operation::barrier ? 0 : bytes;
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i)
    shape.parameters[i] = algorithm.parameters[i].usual;
  return shape;
}

/// What a call throws, as text.
template <class Call>
std::string complaint_of(const Call& call) {
  try {
    call();
  } catch (const BadInput& problem) {
    return problem.what();
  }
  return "nothing was wrong";
}

TEST(Symmetric, IsTheReplayWithEventsToThePicosecond) {
  const std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 chance(seed);
  int same = 0;
  int by_rounds = 0;
  for (const coll::Algorithm* const algorithm : coll::all_algorithms()) {
    for (const Rank ranks : {2U, 3U, 8U, 13U, 16U, 31U}) {
      for (const bool late : {false, true}) {
        const coll::Shape shape =
            shape_for(*algorithm, ranks, 1 + chance() % 3000, static_cast<coll::Sync>(chance() % 3));
        coll::Machine machine;
        machine.levels = {{1,
                           {.latency = 1 + chance() % 3000,
                            .overhead = chance() % 500,
                            .gap = chance() % 3 * (chance() % 700),
                            .femtoseconds_per_byte = chance() % 3 * (chance() % 5000)}}};
        machine.reduce_femtoseconds_per_byte = chance() % 2 * 500;
        const auto calls = late ? late_calls(ranks, 40, chance()) : std::vector<coll::Picoseconds>{};
        if (!coll::is_symmetric(*algorithm)) continue;
        const auto quick = coll::replay_symmetric(*algorithm, shape, machine, calls);
        if (!quick) continue;
        coll::ReplayOptions options;
        options.calls = calls;
        const coll::Replayed slow = coll::replay(*algorithm, shape, machine, options);
        ASSERT_EQ(slow.problem, "");
        EXPECT_EQ(quick->time, slow.time) << algorithm->name << ", " << ranks << " ranks, late " << late;
        EXPECT_EQ(quick->messages, slow.messages);
        EXPECT_EQ(quick->bytes, slow.bytes);
        for (Rank rank = 0; rank < ranks; ++rank) {
          ASSERT_EQ(quick->members[rank].ended, slow.members[rank].ended)
              << algorithm->name << ", rank " << rank;
          ASSERT_EQ(quick->members[rank].drained, slow.members[rank].drained);
          ASSERT_EQ(quick->members[rank].busy, slow.members[rank].busy);
        }
        ++same;
        by_rounds += late ? 1 : 0;
      }
    }
  }
  EXPECT_GT(same, 80);
  EXPECT_GT(by_rounds, 20);
}

TEST(Symmetric, LooksAtAllMembersThatItLeavesOut) {
  // What it takes for alike is alike for every member, so the time of each is that of all.
  for (const coll::Algorithm* const algorithm : coll::all_algorithms()) {
    if (!coll::is_symmetric(*algorithm)) continue;
    for (Rank ranks = 2; ranks <= 40; ++ranks) {
      const coll::Shape shape = shape_for(*algorithm, ranks, 240, coll::Sync::all);
      coll::Machine machine;
      machine.levels = {{1, {.latency = 900, .overhead = 30, .gap = 70, .femtoseconds_per_byte = 400}}};
      const auto quick = coll::replay_symmetric(*algorithm, shape, machine, {});
      if (!quick) continue;
      const coll::Replayed slow = coll::replay(*algorithm, shape, machine);
      ASSERT_EQ(quick->time, slow.time) << algorithm->name << " of " << ranks;
    }
  }
}

TEST(ClosedForms, AreThoseOfTheRequirementsToThreeDigits) {
  const ClosedForms forms;
  const auto three = [](double value) {
    const double scale = std::pow(10, 2 - std::floor(std::log10(value)));
    return std::round(value * scale) / scale;
  };
  const auto expect = [&](const std::vector<double>& table, const auto& form) {
    std::uint32_t radix = 2;
    for (const double value : table) {
      EXPECT_NEAR(form(radix), value, 0.006 * value) << radix;
      EXPECT_NEAR(three(form(radix)), three(value), 0.0101 * value) << radix;
      radix *= 2;
    }
  };
  const auto scatter = [&](double bytes) {
    return [&, bytes](std::uint32_t k) { return forms.scatter(k, bytes); };
  };
  const auto broadcast = [&](double bytes) {
    return [&, bytes](std::uint32_t k) { return forms.broadcast(k, bytes); };
  };
  const auto exchange = [&](double bytes) {
    return [&, bytes](std::uint32_t k) { return forms.exchange(k, bytes); };
  };
  expect({68.3, 52.9, 64.8, 77.7, 141.4, 269.3, 525.2, 522.7}, scatter(8));
  expect({313.1, 216.1, 204.7, 208.3, 267.8, 393.6, 648.6, 645.6}, scatter(128));
  expect({2141.0, 1434.6, 1249.2, 1183.1, 1211.2, 1322.1, 1569.7, 1563.1}, scatter(1024));
  expect({16764, 11183, 9605, 8982, 8758, 8750, 8939, 8903}, scatter(8192));
  expect({52.1, 42.1, 55.7, 69.3, 133.5, 262.0, 519.0, 516.5}, broadcast(8));
  expect({68.4, 58.4, 80.1, 101.8, 198.5, 392.1, 779.1, 776.6}, broadcast(1024));
  expect({183.1, 173.1, 252.1, 331.1, 657.3, 1309.6, 2614.2, 2611.7}, broadcast(8192));
  expect({167.1, 136.3, 118.1, 140.4, 137.9, 202.8, 356.8, 672.1}, exchange(8));
  expect({1084.6, 824.4, 605.6, 570.5, 410.3, 439.3, 586.1, 900.6}, exchange(64));
  expect({16813, 12621, 8961, 7943, 5080, 4494, 4518, 4817}, exchange(1024));
  EXPECT_NEAR(forms.gather_to_all(8), 44.2, 0.05);
  EXPECT_NEAR(forms.gather_to_all(1024), 1084.6, 0.05);
  EXPECT_NEAR(forms.gather_to_all(16384), 16813, 1);
  EXPECT_NEAR(forms.gather_to_all_flat(8), 647.7, 0.05);
  EXPECT_NEAR(forms.gather_to_all_flat(1024), 1684.0, 0.05);
  EXPECT_NEAR(forms.gather_to_all_flat(16384), 17351, 1);
}

Job job_of(const coll::Algorithm& algorithm, Rank ranks, std::uint64_t bytes) {
  Job job;
  job.algorithm = &algorithm;
  job.shape = shape_for(algorithm, ranks, bytes, coll::Sync::all);
  return job;
}

TEST(Simulate, TakesTheShortestExactWay) {
  const Network network = load_network("ideal", 64);
  Job job = job_of(coll::kBarrierDissemination, 64, 0);
  const Outcome alike = simulate(job, network);
  EXPECT_EQ(alike.method, Method::one_for_all);
  job.one_by_one = true;
  const Outcome events = simulate(job, network);
  EXPECT_EQ(events.method, Method::events);
  EXPECT_EQ(alike.replayed.time, events.replayed.time);
  EXPECT_EQ(simulate(job_of(coll::kBarrierTree, 64, 0), network).method, Method::events);
  job.one_by_one = false;
  job.calls = late_calls(64, 10, 1);
  EXPECT_EQ(simulate(job, network).method, Method::by_rounds);
}

TEST(Simulate, HoldsTheLargestTeamsInLittleMemory) {
  for (const coll::Algorithm* const algorithm : coll::all_algorithms()) {
    const coll::Shape shape = shape_for(*algorithm, 32768, 8, coll::Sync::all);
    if (coll::Schedule::refusal(*algorithm, shape) != nullptr) continue;
    const coll::ReplayedCall call{algorithm, shape};
    EXPECT_LT(coll::replay_memory({&call, 1}), std::uint64_t{128} << 20) << algorithm->name;
  }
}

TEST(Simulate, SaysHowManyRanksFit) {
  const Network network = load_network("ideal", 100'000'000);
  Job job = job_of(coll::kBarrierTree, 100'000'000, 0);
  job.most_memory = std::uint64_t{64} << 20;
  const std::string text = complaint_of([&] { simulate(job, network); });
  EXPECT_THAT(text, AllOf(HasSubstr("100000000 ranks need"), HasSubstr("64 MiB are free: about"),
                          HasSubstr("ranks fit")));
  const Rank fits = static_cast<Rank>(std::stoul(text.substr(text.find("about ") + 6)));
  job.shape.ranks = fits;
  const coll::ReplayedCall call{job.algorithm, job.shape};
  EXPECT_LE(coll::replay_memory({&call, 1}), job.most_memory);
  EXPECT_GT(coll::replay_memory({&call, 1}), job.most_memory * 9 / 10);
}

// Also where all members are alike, and with what links need.
TEST(Simulate, SaysHowManyRanksFitWithoutEventsAndWithLinks) {
  Job job = job_of(coll::kBarrierDissemination, 4'000'000, 0);
  job.most_memory = std::uint64_t{64} << 20;
  const Network ideal = load_network("ideal", 4'000'000);
  EXPECT_THAT(complaint_of([&] { simulate(job, ideal); }),
              AllOf(HasSubstr("4000000 ranks need 123 MiB, but 64 MiB are free: about 2097152 ranks fit")));
  const auto fit = [&](const Network& network) {
    const std::string text = complaint_of([&] { simulate(job, network); });
    const std::size_t at = text.find("about ");
    return at == std::string::npos ? 0UL : std::stoul(text.substr(at + 6));
  };
  job.one_by_one = true;
  const auto without = fit(ideal);
  const auto linked = fit(load_network("torus", 4'000'000));
  EXPECT_GT(linked, 0u);
  EXPECT_LT(linked, without);
}

TEST(Simulate, RefusesTooManyMessages) {
  const Network network = load_network("crossbar", 1000);
  Job job = job_of(coll::kAllToAllDirect, 1000, 8);
  job.most_messages = 1000;
  EXPECT_THAT(complaint_of([&] { simulate(job, network); }),
              AllOf(HasSubstr("sends 1019000 messages"), HasSubstr("1000 are allowed (--most-messages)")));
}

TEST(Simulate, RefusesTooManyPackets) {
  const Network network = parse_network(
      R"({"version": 1, "levels": [{}], "topology": {"kind": "crossbar"}, "packet": 1})", "test", 8);
  Job job = job_of(coll::kBroadcastKNomial, 8, 1 << 20);
  job.most_messages = 1000;
  EXPECT_THAT(complaint_of([&] { simulate(job, network); }),
              AllOf(HasSubstr("sends 7340032 packets"), HasSubstr("1000 are allowed (--most-messages)")));
}

TEST(Simulate, RefusesTimesAndSumsThatDoNotFit64Bits) {
  constexpr std::uint64_t kBytes = std::uint64_t{1} << 40;
  for (const bool one_by_one : {false, true}) {
    Job job = job_of(coll::kAllToAllDirect, 512, 8);
    job.shape.bytes = job.shape.pitch = kBytes / 512;
    job.one_by_one = one_by_one;
    Network network = load_network("ideal", 512);
    EXPECT_EQ(simulate(job, network).replayed.bytes, 512 * 511 * (kBytes / 512)) << one_by_one;
    network.machine.levels.front().link.femtoseconds_per_byte = std::uint64_t{1} << 50;  // a time
    EXPECT_THAT(complaint_of([&] { simulate(job, network); }), HasSubstr("do not fit 64 bits")) << one_by_one;
    network.machine.levels.front().link.femtoseconds_per_byte = 0;
    job.shape.bytes = job.shape.pitch = kBytes << 7;  // the sum of nearly 2^18 messages
    EXPECT_THAT(complaint_of([&] { simulate(job, network); }), HasSubstr("do not fit 64 bits")) << one_by_one;
    job.shape.bytes = job.shape.pitch = kBytes << 8;  // what a member has in all
    EXPECT_THAT(complaint_of([&] { simulate(job, network); }), HasSubstr("do not fit 64 bits")) << one_by_one;
  }
}

// Four reductions with no message between them: each fits, their sum does not.
TEST(Simulate, RefusesLocalWorkThatDoesNotFit64Bits) {
  Network network = load_network("ideal", 5);
  network.machine.reduce_femtoseconds_per_byte = std::uint64_t{1} << 50;
  for (const bool one_by_one : {false, true}) {
    Job job = job_of(coll::kAllReduceDirect, 5, std::uint64_t{1} << 21);
    job.one_by_one = one_by_one;
    EXPECT_THAT(complaint_of([&] { simulate(job, network); }), HasSubstr("do not fit 64 bits")) << one_by_one;
  }
}

TEST(LogGP, RoundsTheTimeOfAnyNumberOfBytesDown) {
  const coll::LogGP link{.femtoseconds_per_byte = 1234};
  EXPECT_EQ(link.bytes_time(999), 1232u);                                    // of 1232.766
  EXPECT_EQ(link.bytes_time(std::uint64_t{1} << 60), 1422705136684849168u);  // of ….384
  EXPECT_EQ(link.bytes_time(~std::uint64_t{0}), coll::kMostTime);
}

TEST(Trace, IsJsonWithAnArrowForEachMessage) {
  const support::ScratchFolder folder;
  const std::string file = folder / "trace.json";
  Trace trace(file);
  Job job = job_of(coll::kBroadcastKNomial, 8, 64);
  job.watcher = &trace;
  const Outcome outcome = simulate(job, load_network("ideal", 8));
  EXPECT_EQ(trace.end(outcome.replayed), "");
  std::ifstream in(file);
  const nlohmann::json read = nlohmann::json::parse(in);
  std::uint64_t begins = 0;
  std::uint64_t ends = 0;
  std::uint64_t calls = 0;
  for (const nlohmann::json& event : read.at("traceEvents")) {
    begins += event.at("ph") == "s" ? 1 : 0;
    ends += event.at("ph") == "f" ? 1 : 0;
    calls += event.at("name") == "call" ? 1 : 0;
  }
  EXPECT_EQ(begins, outcome.replayed.messages);
  EXPECT_EQ(ends, outcome.replayed.messages);
  EXPECT_EQ(calls, 8u);
  { const Trace refused(file); }  // of a simulation that never began
  EXPECT_GT(std::filesystem::file_size(file), 1000u);
  Trace nowhere("/nonexistent/folder/trace.json");
  EXPECT_THAT(nowhere.end(outcome.replayed), HasSubstr("cannot be written"));
}

/// Notes who has sent what when.
class NotesOfMessages final : public coll::Watcher {
 public:
  using Sent = std::tuple<Rank, Rank, coll::Picoseconds, std::uint64_t>;
  void busy(Rank, What, coll::Picoseconds, coll::Picoseconds, Rank, std::uint64_t) override {}
  void message(Rank from, Rank to, std::uint64_t bytes, coll::Picoseconds entered,
               coll::Picoseconds in_place) override {
    EXPECT_GE(in_place, entered + 1'000'000);  // L
    sent.emplace_back(from, to, entered, bytes);
  }
  std::vector<Sent> sorted() {
    std::sort(sent.begin(), sent.end());
    return sent;
  }
  std::vector<Sent> sent;
};

// Nobody waits before it has posted all, so messages enter the network at the same times whatever the links.
TEST(Trace, MessagesBeginWhenTheyEnterTheNetworkWhateverTheLinks) {
  for (const std::uint64_t bytes : {8u, 200'000u}) {  // the latter in packets
    NotesOfMessages ideal;
    Job job = job_of(coll::kAllToAllDirect, 27, bytes);
    job.shape.in = job.shape.out = coll::Sync::none;
    job.watcher = &ideal;
    simulate(job, load_network("ideal", 27));
    EXPECT_EQ(ideal.sent.size(), 27u * 26);
    for (const char* const name : {"crossbar", "fat-tree", "torus", "dragonfly-valiant"}) {
      NotesOfMessages linked;
      job.watcher = &linked;
      simulate(job, load_network(name, 27));
      EXPECT_EQ(linked.sorted(), ideal.sorted()) << name << ", " << bytes << " bytes";
    }
  }
}

TEST(Plot, IsAPictureOrAPage) {
  const support::ScratchFolder folder;
  const std::string picture = plot_svg("a < b", "bytes", "us", {{"one & two", {{8, 1.5}, {64, 30}}}});
  EXPECT_THAT(picture, AllOf(HasSubstr("<svg"), HasSubstr("a &lt; b"), HasSubstr("one &amp; two"),
                             HasSubstr("</svg>")));
  EXPECT_EQ(write_plots(folder / "plot.svg", "t", {picture}), "");
  EXPECT_EQ(write_plots(folder / "plot.html", "t", {picture, picture}), "");
  EXPECT_THAT(write_plots(folder / "plot.png", "t", {picture}), HasSubstr(".svg or .html"));
  EXPECT_THAT(write_plots(folder / "plot.svg", "t", {picture, picture}), HasSubstr(".html"));
  EXPECT_THAT(write_plots("/nonexistent/plot.svg", "t", {picture}), HasSubstr("cannot be written"));
}

}  // namespace
}  // namespace aqueduct::sim
