#include "coll/algorithms/algorithms.hpp"
#include "sim/member_counts.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/unit/aqsim/simulated.hpp"
#include "tools/aqsim/run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <fstream>
#include <functional>
#include <numeric>
#include <sstream>

namespace aqueduct::aqsim {
namespace {

using coll::Operation;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::array kCounted{Operation::scatter_v, Operation::gather_v, Operation::all_gather_v,
                              Operation::all_to_all_v};

coll::Shape blocks_shape(Operation operation, Rank ranks, std::uint64_t bytes, Rank root = 0) {
  coll::Shape shape;
  shape.operation = operation;
  shape.in = shape.out = coll::Sync::none;
  shape.ranks = ranks;
  shape.root = root;
  shape.bytes = shape.pitch = bytes;
  return shape;
}
coll::Replayed simulated(const coll::Algorithm& algorithm, coll::Shape shape,
                         std::span<const std::uint64_t> lengths) {
  const sim::MemberCounts counts(shape, lengths);
  shape.bytes = shape.pitch = counts.longest();
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i)
    shape.parameters[i] = algorithm.parameters[i].usual;
  sim::Job job;
  job.algorithm = &algorithm;
  job.shape = shape;
  job.blocks = counts.views();
  return sim::simulate(job, sim::load_network("ideal", shape.ranks)).replayed;
}

/// What each member is to receive from others, in all.
std::uint64_t received(const coll::Shape& shape, std::span<const std::uint64_t> lengths, Rank member) {
  std::uint64_t sum = 0;
  for (Rank from = 0; from < shape.ranks; ++from) {
    if (from == member) continue;
    if (shape.operation == Operation::scatter_v)
      sum += from == shape.root ? lengths[member] : 0;
    else if (shape.operation == Operation::gather_v)
      sum += member == shape.root ? lengths[from] : 0;
    else
      sum += lengths[lengths.size() > shape.ranks ? from * shape.ranks + member : from];
  }
  return sum;
}

TEST(AqsimCounts, AreMovedByEveryAlgorithmToWhomTheyAreFor) {
  for (const Operation operation : kCounted) {
    for (const Rank ranks : {1U, 2U, 5U, 8U, 13U}) {
      for (const char* const rule : {"growing", "chance", "one"}) {
        const coll::Shape shape = blocks_shape(operation, ranks, 1000, ranks / 2);
        const std::vector<std::uint64_t> lengths = lengths_for(read_counts(rule), shape, 3);
        std::uint64_t all = 0;
        for (Rank member = 0; member < ranks; ++member) all += received(shape, lengths, member);
        for (const coll::Algorithm* const algorithm : coll::all_algorithms()) {
          if (algorithm->operation != operation) continue;
          const coll::Replayed out = simulated(*algorithm, shape, lengths);
          EXPECT_EQ(out.bytes, all) << algorithm->name << ", " << ranks << " ranks, " << rule;
        }
      }
    }
  }
}

TEST(AqsimCounts, ThatAreAllAlikeTakeTheTimeOfBlocksThatAre) {
  for (const Operation operation : kCounted) {
    for (const char* const numbers : {"11x96", "121x96"}) {
      Options options;
      options.operation = operation == Operation::scatter_v      ? "scatter_v"
                          : operation == Operation::gather_v     ? "gather_v"
                          : operation == Operation::all_gather_v ? "all_gather_v"
                                                                 : "all_to_all_v";
      if (operation != Operation::all_to_all_v && numbers == std::string("121x96")) continue;
      options.json = true;
      options.ranks = {11};
      options.bytes = {96};
      options.algorithm = "all";
      const auto plain = lines_of(options);
      options.counts = read_counts(numbers);
      const auto counted = lines_of(options);
      ASSERT_EQ(plain.size(), counted.size());
      for (std::size_t i = 0; i < plain.size(); ++i) {
        for (const char* const key :
             {"algorithm", "virtual_us", "messages", "bytes_sent", "bytes", "idle_mean_us"})
          EXPECT_EQ(plain[i].at(key), counted[i].at(key)) << key << " of " << plain[i].dump();
        EXPECT_EQ(counted[i].at("counts"), std::string(numbers));
      }
    }
  }
}

// The root sends to its successor first. Only that member has a block, so it alone sends or receives.
TEST(AqsimCounts, OfOneMemberTakeTheTimeOfOneMessage) {
  const coll::LogGP link = sim::load_network("ideal", 9).machine.levels.front().link;
  for (const Operation operation : {Operation::scatter_v, Operation::gather_v}) {
    const coll::Shape shape = blocks_shape(operation, 9, 5000, 4);
    const std::vector<std::uint64_t> lengths = lengths_for(read_counts("one"), shape, 1);
    EXPECT_THAT(lengths, ElementsAre(0, 0, 0, 0, 0, 5000, 0, 0, 0));
    const coll::Algorithm& slots =
        operation == Operation::scatter_v ? coll::kScatterVSlots : coll::kGatherVSlots;
    const coll::Replayed out = simulated(slots, shape, lengths);
    EXPECT_EQ(out.messages, 1u);
    EXPECT_EQ(out.time, link.overhead + link.latency + link.bytes_time(5000));
  }
}

TEST(AqsimCounts, OfPairsAreOfTheSenderFirst) {
  const coll::Shape shape = blocks_shape(Operation::all_to_all_v, 3, 0);
  const std::vector<std::uint64_t> lengths{0, 100, 0, 0, 0, 0, 7, 0, 0};
  const sim::MemberCounts counts(shape, lengths);
  EXPECT_EQ(counts.longest(), 100u);
  EXPECT_EQ(counts.views()[0].sends[1].bytes, 100u);
  EXPECT_EQ(counts.views()[1].receives[0].bytes, 100u);
  EXPECT_EQ(counts.views()[0].receives[2].bytes, 7u);
  EXPECT_EQ(counts.views()[2].sends[0].bytes, 7u);
  EXPECT_EQ(counts.views()[0].senders, 1u);
  EXPECT_EQ(counts.views()[2].senders, 0u);
  EXPECT_EQ(simulated(coll::kAllToAllVSlots, shape, lengths).messages, 2u);
}

TEST(AqsimCounts, AreReadFromListsAndFiles) {
  EXPECT_THAT(read_counts("8,0,3x1K").numbers, ElementsAre(8, 0, 1024, 1024, 1024));
  const support::ScratchFolder folder;
  const std::string name = (folder / "blocks").string();
  std::ofstream(name) << "# of a mesh\n8 0, 2x4K\n\n16 # the last\n";
  EXPECT_THAT(read_counts(name).numbers, ElementsAre(8, 0, 4096, 4096, 16));
  EXPECT_EQ(read_counts("growing").rule, Counts::Rule::growing);
  coll::Shape shape = blocks_shape(Operation::gather_v, 5, 64);
  shape.element = 8;
  EXPECT_THAT(lengths_for(read_counts("growing"), shape, 1), ElementsAre(0, 16, 32, 48, 64));
  for (const std::uint64_t bytes : lengths_for(read_counts("chance"), shape, 1)) {
    EXPECT_LE(bytes, 64u);
    EXPECT_EQ(bytes % 8, 0u);
  }
}

TEST(AqsimCounts, SayWhatIsWrong) {
  EXPECT_THAT(refusal_of([] { read_counts("growth"); }),
              AllOf(HasSubstr("--counts growth"), HasSubstr("no such file"), HasSubstr("growing")));
  EXPECT_THAT(refusal_of([] { read_counts("8,2x,9"); }), HasSubstr("'2x' is no length of blocks"));
  EXPECT_THAT(refusal_of([] { read_counts("8,2T"); }), HasSubstr("'2T' is no length of blocks"));
  EXPECT_THAT(refusal_of([] { read_counts("0x8"); }), HasSubstr("'0x8' is no length of blocks"));
  EXPECT_THAT(refusal_of([] { read_counts(","); }), HasSubstr("there are no numbers"));
  EXPECT_THAT(refusal_of([] { read_counts(""); }), HasSubstr("no such file"));
  EXPECT_THAT(refusal_of([] { read_counts("/dev/null"); }), HasSubstr("it is no file"))
      << "nor from one that never ends";
  const support::ScratchFolder folder;
  EXPECT_THAT(refusal_of([&] { read_counts(folder.path()); }), HasSubstr("it is no file"));
  const std::string name = (folder / "binary").string();
  std::ofstream(name) << std::string(1000, '\0');
  EXPECT_THAT(refusal_of([&] { read_counts(name); }),
              HasSubstr("'" + std::string(60, '?') + "… (1000 bytes)' is no length of blocks"));
  const coll::Shape four = blocks_shape(Operation::all_to_all_v, 4, 8);
  EXPECT_THAT(refusal_of([&] { lengths_for(read_counts("8,8"), four, 1); }),
              AllOf(HasSubstr("has 2 numbers, but there are 4 ranks"), HasSubstr("or 16")));
  EXPECT_THAT(
      refusal_of([] { lengths_for(read_counts("16x8"), blocks_shape(Operation::gather_v, 4, 8), 1); }),
      HasSubstr("has 16 numbers, but there are 4 ranks"));
  EXPECT_THAT(
      refusal_of([] { lengths_for(read_counts("one"), blocks_shape(Operation::broadcast, 4, 8), 1); }),
      AllOf(HasSubstr("broadcast has blocks of one length"), HasSubstr("scatter_v")));
  coll::Shape elements = blocks_shape(Operation::gather_v, 2, 8);
  elements.element = 8;
  EXPECT_THAT(refusal_of([&] { lengths_for(read_counts("8,12"), elements, 1); }),
              HasSubstr("12 bytes are no whole number of elements of 8"));
  Options many;
  many.operation = "all_to_all_v";
  many.ranks = {1U << 24};
  many.counts = read_counts("chance");
  EXPECT_THAT(refusal_of([&] { run(many); }), HasSubstr("MiB are free"));
}

}  // namespace
}  // namespace aqueduct::aqsim
