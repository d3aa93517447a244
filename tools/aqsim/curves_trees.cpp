// Trees: which radix is best, and broadcasts in flight.

#include "coll/algorithms/algorithms.hpp"
#include "tools/aqsim/curves.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace aqueduct::aqsim {

using coll::Algorithm;

namespace {

Finding k_ary() {
  const Best best = best_radix(coll::kBroadcastKAry, {});
  const double eight = time_of(coll::kBroadcastKAry, 8, {});
  return {"R-05",
          "broadcast of 8 B, 256 nodes: best k-ary tree",
          "8-ary (Sun), 4-ary (XT4)",
          fmt::format("{}-ary; 8-ary is {} behind", best.radix, percent(eight / best.us)),
          best.radix == 8,
          "Table 5.1 has g = 2 us, so eight children cost more than a level less saves. The model of the "
          "source says 4-ary too (R-21)"};
}
Finding k_nomial() {
  const Best small = best_radix(coll::kBroadcastKNomial, {});
  const Best large = best_radix(coll::kBroadcastKNomial, {.bytes = 8192});
  return {"R-06",
          "broadcast, 256 nodes: best k-nomial tree, 8 B and 8 KiB",
          "4-nomial small, binomial large",
          fmt::format("{}-nomial, {}-nomial", small.radix, large.radix),
          small.radix == 4 && large.radix == 2,
          ""};
}
Finding nomial_against_ary() {
  double most = 0;
  double of_sun = 0;
  for (std::uint64_t bytes = 8; bytes <= 2048; bytes *= 2) {
    const Setup on_cray{.ranks = 1024, .bytes = bytes, .link = cray()};
    most = std::max(
        most, best_radix(coll::kBroadcastKAry, on_cray).us / best_radix(coll::kBroadcastKNomial, on_cray).us);
    of_sun = std::max(of_sun, best_radix(coll::kBroadcastKAry, {.bytes = bytes}).us /
                                  best_radix(coll::kBroadcastKNomial, {.bytes = bytes}).us);
  }
  return {"R-07",
          "broadcast of 8 B to 2 KiB: the best k-nomial tree before the best k-ary",
          "up to 22 % (XT); none on Sun",
          fmt::format("up to {} (g = o), up to {} (g = 4 o)", percent(most), percent(of_sun)),
          most < 1.22 && of_sun > 1.22,
          "The gain grows with g / o. The source has no figures of the XT; 22 % lie between the two. On Sun "
          "other "
          "traffic, which the model does not have, may even the trees out"};
}
Finding broadcasts_in_flight() {
  const Algorithm& tree = coll::kBroadcastKAry;
  const Setup one{.ranks = 256, .sync = coll::Sync::all, .times = 32};
  Setup all = one;
  all.in_flight = true;
  const double ratio = time_of(tree, 2, one) / time_of(tree, 2, all);
  return {"R-11",        "32 broadcasts of 8 B in flight against one after the other",
          "much faster", fmt::format("{:.1f} times as many in a time", ratio),
          ratio > 1.5,   ""};
}
Finding mechanisms() {
  const Setup small{};
  const Setup large{.bytes = 65536};
  const double of_8 = time_of(coll::kBroadcastGet, 4, small) / time_of(coll::kBroadcastKNomial, 4, small);
  const double of_64k = time_of(coll::kBroadcastGet, 4, large) / time_of(coll::kBroadcastKNomial, 4, large);
  return {"R-10",
          "broadcast, 256 nodes: edges on which the reader gets the bytes against puts with a signal, 8 B "
          "and 64 KiB",
          "rendez-vous is the slowest",
          fmt::format("{} behind, {} behind", percent(of_8), percent(of_64k)),
          of_8 > 1 && of_64k > 1,
          ""};
}
}  // namespace

std::vector<Finding> tree_curves() {
  return {k_ary(), k_nomial(), nomial_against_ary(), broadcasts_in_flight(), mechanisms()};
}

}  // namespace aqueduct::aqsim
