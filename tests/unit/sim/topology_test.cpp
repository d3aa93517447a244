#include "coll/algorithms/algorithms.hpp"
#include "sim/shared_links.hpp"
#include "sim/topology.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <stdexcept>

namespace aqueduct::sim {
namespace {

TEST(Topology, OfFourPortSwitchesIsTheFatTreeOfTheRequirements) {
  const auto tree = make_fat_tree({.ports = 4, .tiers = 3});
  ASSERT_EQ(tree->hosts(), 16u);
  EXPECT_EQ(tree->hops(0, 1), 1u);
  EXPECT_EQ(tree->hops(0, 3), 3u);
  EXPECT_EQ(tree->hops(0, 4), 5u);
  EXPECT_EQ(tree->hops(0, 15), 5u);
}

TEST(Topology, OfATorusHasTheLinksOfItsFormula) {
  const auto torus = make_torus({4, 4, 4});
  EXPECT_EQ(torus->hosts(), 64u);
  EXPECT_EQ(torus->links(), 2 * 64u + 64 * 6);
  EXPECT_EQ(torus->hops(0, 3), 1u);                   // around
  EXPECT_EQ(torus->hops(0, 2 + 2 * 4 + 2 * 16), 6u);  // the farthest
  // Across the middle of d dimensions of m: 2 m^(d-1) links in each direction. Shift by 2 along the last dimension: each message
  // crosses one of two cuts, and each of the links there carries the same.
  std::vector<int> load(torus->links());
  Route route;
  for (Host from = 0; from < 64; ++from) {
    torus->find(from, (from + 32) % 64, 0, route);
    EXPECT_EQ(route.links().size(), 2 + 2u);
    for (const Link link : route.links()) ++load[link];
  }
  int used = 0;
  for (Link link = 2 * 64; link < torus->links(); ++link) used += load[link] > 0 ? 1 : 0;
  EXPECT_EQ(used, 64);  // 2 m^(d-1) = 32 for each half
}

TEST(Topology, OfADragonflyTakesAtMostOneGlobalLinkAnd3RoutersMore) {
  const auto fly = make_dragonfly({.hosts = 2, .routers = 4, .globals = 2, .groups = 9});
  ASSERT_EQ(fly->hosts(), 72u);
  EXPECT_EQ(fly->hops(0, 1), 1u);
  EXPECT_EQ(fly->hops(0, 2), 2u);
  std::uint32_t most = 0;
  for (Host to = 1; to < 72; ++to) most = std::max(most, fly->hops(0, to));
  EXPECT_EQ(most, 4u);
  const auto valiant = make_dragonfly({.hosts = 2, .routers = 4, .globals = 2, .groups = 9, .valiant = true});
  Route route;
  std::set<std::vector<Link>> ways;
  for (std::uint64_t chance = 0; chance < 50; ++chance) {
    valiant->find(0, 71, chance, route);
    EXPECT_LE(route.links().size(), 2 + 5u);
    ways.insert({route.links().begin(), route.links().end()});
  }
  EXPECT_GT(ways.size(), 4u);
}

TEST(Topology, EachLinkHasOneBeginningAndOneEnd) {
  // Every way between two hosts is a chain, and the hosts at both ends of it are right: a link's end is found by joining ways.
  const std::vector<std::function<std::unique_ptr<Topology>()>> all{
      [] { return make_crossbar(9); },
      [] { return make_fat_tree({.ports = 6, .tiers = 2}); },
      [] { return make_fat_tree({.ports = 4, .tiers = 3, .by_chance = true}); },
      [] {
        return make_torus({3, 5});
      },
      [] {
        return make_torus({2, 2, 2, 2});
      },
      [] { return make_dragonfly({.hosts = 1, .routers = 3, .globals = 1, .groups = 4}); },
      [] { return make_dragonfly({.hosts = 1, .routers = 3, .globals = 2, .groups = 4}); },
      [] { return make_dragonfly({.hosts = 1, .routers = 4, .globals = 2, .groups = 5, .valiant = true}); }};
  for (const auto& make : all) {
    const auto topology = make();
    SCOPED_TRACE(topology->name());
    // Switches: sets of link ends that meet. A way joins the end of each of its links with the beginning of the next.
    std::vector<std::uint32_t> meets(2 * std::size_t{topology->links()});
    std::iota(meets.begin(), meets.end(), 0U);
    const std::function<std::uint32_t(std::uint32_t)> root = [&](std::uint32_t at) {
      while (meets[at] != at) at = meets[at] = meets[meets[at]];
      return at;
    };
    Route route;
    for (Host from = 0; from < topology->hosts(); ++from) {
      for (Host to = 0; to < topology->hosts(); ++to) {
        if (from == to) continue;
        for (std::uint64_t chance = 0; chance < 8; ++chance) {
          topology->find(from, to, chance, route);
          const auto links = route.links();
          ASSERT_EQ(links.front(), from);
          ASSERT_EQ(links.back(), topology->hosts() + to);
          ASSERT_EQ(std::set<Link>(links.begin(), links.end()).size(), links.size());
          for (const Link link : links) ASSERT_LT(link, topology->links());
          for (std::size_t i = 0; i + 1 < links.size(); ++i)
            meets[root(2 * links[i] + 1)] = root(2 * links[i + 1]);
        }
      }
    }
    // A link that begins and ends at one switch goes nowhere: numbers of two links have been mixed up.
    for (Link link = 0; link < topology->links(); ++link)
      EXPECT_NE(root(2 * link), root(2 * link + 1)) << link;
  }
}

TEST(Topology, RefusesShapesThatAreNone) {
  EXPECT_THROW(make_fat_tree({.ports = 5}), std::invalid_argument);
  EXPECT_THROW(make_fat_tree({.ports = 64, .tiers = 20}), std::invalid_argument);
  EXPECT_THROW(make_torus({}), std::invalid_argument);
  EXPECT_THROW(make_torus({4, 0}), std::invalid_argument);
  EXPECT_THROW(make_dragonfly({.hosts = 1, .routers = 2, .globals = 1, .groups = 4}), std::invalid_argument);
  EXPECT_THROW(make_crossbar(0), std::invalid_argument);
}

// L 1000, o 0, g 0, 1 ps a byte.
coll::Machine machine() {
  coll::Machine out;
  out.levels = {{1, {.latency = 1000, .overhead = 0, .gap = 0, .femtoseconds_per_byte = 1000}}};
  return out;
}
coll::Shape direct_of(Rank ranks, std::uint64_t bytes) {
  coll::Shape shape;
  shape.operation = coll::Operation::all_to_all;
  shape.in = shape.out = coll::Sync::none;
  shape.addresses = coll::Addresses::single;
  shape.ranks = ranks;
  shape.bytes = shape.pitch = bytes;
  return shape;
}

TEST(SharedLinks, CarryTheBytesOfTheirRoutes) {
  const auto torus = make_torus({3, 4});
  std::vector<Host> places(12);
  std::iota(places.begin(), places.end(), 0U);
  SharedLinks links(*torus, places, {}, {.hop = 5, .femtoseconds_per_byte = 1000}, 1);
  coll::ReplayOptions options;
  options.links = &links;
  const coll::Replayed out = coll::replay(coll::kAllToAllDirect, direct_of(12, 100), machine(), options);
  ASSERT_EQ(out.problem, "");
  std::uint64_t hops = 0;
  for (Host a = 0; a < 12; ++a) {
    for (Host b = 0; b < 12; ++b) hops += a == b ? 0 : torus->hops(a, b) + 2;
  }
  EXPECT_EQ(links.hops(), hops);
  EXPECT_EQ(std::accumulate(links.bytes().begin(), links.bytes().end(), std::uint64_t{0}), hops * 100);
}

// Ways by chance go by the number of the message, and ranks of one host use no links: neither must depend on announcements.
TEST(SharedLinks, AnnouncedMessagesArriveAsOthersDo) {
  const auto tree = make_fat_tree({.ports = 4, .tiers = 3, .by_chance = true});
  std::vector<Host> places(32);
  for (Rank rank = 0; rank < places.size(); ++rank) places[rank] = rank / 2;
  const LinkSpeed slow{.hop = 5, .femtoseconds_per_byte = 9000};
  SharedLinks told(*tree, places, slow, slow, 7);
  SharedLinks untold(*tree, places, slow, slow, 7);
  told.begin();
  untold.begin();
  const auto from = [](std::size_t i) { return static_cast<Rank>(i * 5 % 32); };
  const auto to = [](std::size_t i) { return static_cast<Rank>((i * 5 + 1 + i % 11) % 32); };
  const coll::LogGP link{.latency = 50, .femtoseconds_per_byte = 1000};
  constexpr std::size_t kMessages = 500;
  std::size_t announced = 0;
  for (std::size_t i = 0; i < kMessages; ++i) {
    // Now and then none is announced: the window of a replay is over.
    const std::size_t limit = i % 40 == 0 ? i : std::min(i + coll::Links::kAnnounced, (i / 40 + 1) * 40);
    for (announced = std::max(announced, i); announced < std::min(limit, kMessages); ++announced)
      told.announce(from(announced), to(announced), /*part=*/false);
    ASSERT_EQ(told.arrival(i * 3, from(i), to(i), 100, link),
              untold.arrival(i * 3, from(i), to(i), 100, link))
        << "message " << i;
  }
  EXPECT_EQ(told.bytes(), untold.bytes());
  EXPECT_EQ(told.hops(), untold.hops());
}

TEST(SharedLinks, PacketsOfAMessageGoOneWay) {
  constexpr std::uint64_t kPackets = 40;
  const coll::LogGP link{.latency = 50, .femtoseconds_per_byte = 1000};
  for (const bool flies : {false, true}) {
    const auto topology =
        flies ? make_dragonfly({.hosts = 2, .routers = 4, .globals = 2, .groups = 9, .valiant = true})
              : make_fat_tree({.ports = 8, .tiers = 3, .by_chance = true});
    SCOPED_TRACE(topology->name());
    std::vector<Host> places(topology->hosts());
    std::iota(places.begin(), places.end(), 0U);
    const Rank last = topology->hosts() - 1;
    SharedLinks links(*topology, places, {}, {.hop = 5, .femtoseconds_per_byte = 1000}, 3);
    links.begin();
    // Packets of several senders' messages come in turns.
    for (std::uint64_t i = 0; i < kPackets; ++i) {
      for (const Rank from : {0U, 1U, 2U}) {
        links.announce(from, last - from, /*part=*/i + 1 < kPackets);
        links.arrival(i * 100, from, last - from, 100, link);
      }
    }
    for (const std::uint64_t bytes : links.bytes()) EXPECT_EQ(bytes % (kPackets * 100), 0u);
    // The next messages may go other ways.
    links.begin();
    for (std::uint64_t i = 0; i < kPackets; ++i) links.arrival(i * 100, 0, last, 100, link);
    EXPECT_TRUE(std::any_of(links.bytes().begin(), links.bytes().end(),
                            [](std::uint64_t bytes) { return bytes % (kPackets * 100) != 0; }));
  }
}

TEST(SharedLinks, WithoutATaskToShareChangeNothing) {
  // Links as fast as ports, and no hop: a crossbar is LogGP itself.
  const auto crossbar = make_crossbar(8);
  std::vector<Host> places(8);
  std::iota(places.begin(), places.end(), 0U);
  SharedLinks links(*crossbar, places, {.femtoseconds_per_byte = 1000}, {}, 1);
  coll::ReplayOptions options;
  const coll::Picoseconds plain =
      coll::replay(coll::kAllToAllDirect, direct_of(8, 100), machine(), options).time;
  options.links = &links;
  EXPECT_EQ(coll::replay(coll::kAllToAllDirect, direct_of(8, 100), machine(), options).time, plain);
}

TEST(SharedLinks, AreTakenOneAfterTheOther) {
  // Hosts 0 and 1 of a line of four send to 2 and 3: both messages take the link from 1 to 2.
  const auto torus = make_torus({8});
  const std::vector<Host> places{0, 1, 2, 3};
  SharedLinks links(*torus, places, {}, {.hop = 10, .femtoseconds_per_byte = 1000}, 1);
  links.begin();
  const coll::LogGP link = machine().levels.front().link;
  EXPECT_EQ(links.arrival(0, 0, 2, 500, link), 1000u + 2 * 10);
  // The link from 1 to 2 is idle from 1000 to 1010, which is 10 of the second one's 500 bytes; the others go
  // behind the first one, which is through at 1510.
  EXPECT_EQ(links.arrival(0, 1, 3, 500, link), 1510u - 10 + 2 * 10);
}

TEST(SharedLinks, SlowLinksDelayTheLastByte) {
  const auto crossbar = make_crossbar(2);
  const std::vector<Host> places{0, 1};
  SharedLinks links(*crossbar, places, {.hop = 10, .femtoseconds_per_byte = 4000}, {}, 1);
  links.begin();
  // The last byte is there at 1000 + 2 * 10 + 400; the port takes 100 for them.
  EXPECT_EQ(links.arrival(0, 0, 1, 100, machine().levels.front().link), 1420u - 100);
}

TEST(SharedLinks, LongMessagesShareALinkInPackets) {
  const auto torus = make_torus({8});
  const std::vector<Host> places{0, 1, 2, 3};
  const auto ends = [&](std::uint64_t packet) {
    SharedLinks links(*torus, places, {}, {.hop = 10, .femtoseconds_per_byte = 1000}, 1);
    coll::ReplayOptions options;
    options.links = &links;
    options.packet = packet;
    // 0 and 1 put to 2 and 3 at once.
    static const coll::Algorithm shifted{
        .name = "shifted",
        .operation = coll::Operation::broadcast,
        .parameters = {},
        .refusal = [](const coll::Shape&) noexcept -> const char* { return nullptr; },
        .needs = [](const coll::Shape&) noexcept { return coll::Needs{.counters = 1}; },
        .lanes = [](const coll::Shape&, Rank) noexcept { return 1U; },
        .length = [](const coll::Shape&, Rank, std::uint32_t) noexcept { return 1U; },
        .step =
            [](const coll::Shape& shape, Rank position, std::uint32_t, std::uint32_t) noexcept {
              coll::Step step;
              if (position < 2) {
                step.kind = coll::Step::Kind::put;
                step.peer = position + 2;
                step.bytes = shape.bytes;
                step.raise = 0;
              } else {
                step.wait_for = 0;
                step.wait_until = 1;
              }
              return step;
            },
        .cost = [](const coll::Shape&) noexcept { return coll::Cost{}; }};
    coll::Shape shape = direct_of(4, 100'000);
    shape.operation = coll::Operation::broadcast;
    const coll::Replayed out = coll::replay(shifted, shape, machine(), options);
    EXPECT_EQ(out.problem, "");
    return std::pair{out.members[2].ended, out.members[3].ended};
  };
  const auto [first, second] = ends(0);
  EXPECT_NEAR(static_cast<double>(first), 101'020, 100);   // one has the link for itself
  EXPECT_NEAR(static_cast<double>(second), 201'020, 100);  // the other waits
  const auto [shared, other] = ends(1000);
  EXPECT_NEAR(static_cast<double>(shared), 200'000, 3000);
  EXPECT_NEAR(static_cast<double>(other), 200'000, 3000);
}

}  // namespace
}  // namespace aqueduct::sim
