// Requirements HT-12 and N-13: of each host one member sends to other hosts, and what it sends does not depend on how many
// members it speaks for.

#include "coll/algorithms/algorithms.hpp"
#include "coll/schedule/groups.hpp"
#include "coll/schedule/schedule.hpp"
#include "coll/tune/operation_word.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace aqueduct::coll {
namespace {

struct OfHosts {
  std::vector<Rank> senders;            ///< [host] how many of its members reach other hosts
  std::vector<std::uint64_t> messages;  ///< [host] to or from other hosts
  std::uint64_t inside = 0;             ///< messages between members of one host
};

OfHosts sent_by_hosts(const Algorithm& algorithm, Rank hosts, Rank each, bool in_turns) {
  const Groups groups(hosts * each, [&](Rank member) { return in_turns ? member % hosts : member / each; });
  Shape shape;
  shape.operation = algorithm.operation;
  shape.ranks = hosts * each;
  shape.in = shape.out = Sync::mine;
  shape.bytes = shape.pitch = algorithm.operation == Operation::barrier ? 0 : 64;
  shape.element = 8;
  shape.groups.of = &groups;
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i)
    shape.parameters[i] = algorithm.parameters[i].usual;
  const TeamSchedule schedule(algorithm, shape);
  OfHosts out{std::vector<Rank>(hosts), std::vector<std::uint64_t>(hosts)};
  for (Rank me = 0; me < shape.ranks; ++me) {
    const Rank host = groups.group_of(me);
    std::uint64_t across = 0;
    for (std::uint32_t lane = 0; lane < schedule.lanes(me); ++lane) {
      const auto lengths = schedule.lengths(me, lane);
      for (std::uint32_t i = 0; i < lengths.all; ++i) {
        const Step step = schedule.step(me, lane, i, lengths);
        if (step.peer == kNoRank) continue;
        ++(groups.group_of(step.peer) == host ? out.inside : across);
      }
    }
    out.senders[host] += across > 0 ? 1 : 0;
    out.messages[host] += across;
  }
  return out;
}

TEST(HostsSenders, AreOneForEachHostAndSendAsMuchForAnyNumberOfMembers) {
  for (const Operation operation :
       {Operation::barrier, Operation::broadcast, Operation::reduce, Operation::all_reduce,
        Operation::all_gather, Operation::scatter, Operation::gather}) {
    // All-reduces have a form by leaders in rounds, and one by a tree.
    for (const char* const name : {"hosts", "hosts-tree"}) {
      const Algorithm* const algorithm = find_algorithm(operation, name);
      if (algorithm == nullptr) continue;
      for (const Rank hosts : {2u, 4u, 8u}) {
        for (const bool in_turns : {false, true}) {
          SCOPED_TRACE(std::string(operation_word(operation)) + ' ' + name + ", " + std::to_string(hosts) +
                       (in_turns ? " hosts in turns" : " hosts"));
          const OfHosts few = sent_by_hosts(*algorithm, hosts, 2, in_turns);
          for (const Rank each : {2u, 3u, 7u}) {
            const OfHosts more = sent_by_hosts(*algorithm, hosts, each, in_turns);
            for (Rank host = 0; host < hosts; ++host) EXPECT_LE(more.senders[host], 1u) << "host " << host;
            EXPECT_EQ(more.messages, few.messages) << each << " members of each host";
            EXPECT_GT(more.inside, 0u);
          }
        }
      }
    }
  }
}

// N-13: on its host the one that hears of a broadcast passes it to each of the others once.
TEST(HostsSenders, PassABroadcastToEachOtherMemberOfTheirHostOnce) {
  const Algorithm* const algorithm = find_algorithm(Operation::broadcast, "hosts");
  ASSERT_NE(algorithm, nullptr);
  for (const Rank each : {2u, 3u, 7u})
    EXPECT_EQ(sent_by_hosts(*algorithm, 4, each, false).inside, 4 * (each - 1)) << each;
}

}  // namespace
}  // namespace aqueduct::coll
