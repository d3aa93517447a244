// Exchanges (all-to-all) and gathers to all.

#include "coll/algorithms/algorithms.hpp"
#include "tools/aqsim/curves.hpp"

#include <fmt/format.h>

#include <array>

namespace aqueduct::aqsim {

namespace {

Finding exchange_radix() {
  // 64 nodes of 4 threads: a message carries 16 blocks.
  const auto bruck = [](std::uint32_t radix, std::uint64_t bytes) {
    return time_of(coll::kAllToAllBruck, radix, {.ranks = 64, .bytes = bytes * 16});
  };
  const double gain = bruck(2, 128) / bruck(8, 128);
  return {"R-24",
          "exchange of 128 B, 256 cores: radix 8 against radix 2",
          "35 % less time",
          fmt::format("{:.0f} % less", (1 - 1 / gain) * 100),
          1 - 1 / gain > 0.25 && 1 - 1 / gain < 0.5,
          ""};
}
Finding exchange_crossover() {
  std::uint64_t flat_from = 0;
  std::uint64_t eight_from = 0;
  for (std::uint64_t bytes = 4; bytes <= 65536; bytes *= 2) {
    const Setup setup{.ranks = 64, .bytes = bytes * 16};
    double best = time_of(coll::kAllToAllDirect, 0, setup);
    const double flat = best;
    std::uint32_t radix = 0;
    for (const std::uint32_t k : {2U, 4U, 8U, 16U}) {
      const double us = time_of(coll::kAllToAllBruck, k, setup);
      if (us < best) {
        best = us;
        radix = k;
      }
    }
    if (radix >= 8 && eight_from == 0) eight_from = bytes;
    if (flat <= best && flat_from == 0) flat_from = bytes;
  }
  return {"R-24",
          "exchange, 256 cores: from which size radix 8 and flat are best",
          "radix 8 from 32 B, flat from about 512 B",
          fmt::format("radix 8 or more from {} B, flat from {} B", eight_from, flat_from),
          eight_from >= 16 && eight_from <= 64 && flat_from >= 256 && flat_from <= 1024,
          "Flat sends 63 messages at g = 2 us, 126 us, whatever their size; the bytes that radix 8 sends "
          "twice take as long "
          "from this size on"};
}
Finding exchanges_in_flight() {
  const Setup one{.ranks = 64, .bytes = 512, .sync = coll::Sync::mine, .times = 8};
  Setup all = one;
  all.in_flight = true;
  const double ratio = time_of(coll::kAllToAllBruck, 8, one) / time_of(coll::kAllToAllBruck, 8, all);
  return {"R-28",        "exchanges in flight against one after the other",
          "little gain", fmt::format("{:.2f} times as many in a time", ratio),
          ratio < 1.35,  ""};
}
Finding gather_to_all() {
  bool always = true;
  std::uint64_t wins = 0;
  for (std::uint64_t bytes = 8; bytes <= 16384; bytes *= 2) {
    const Setup setup{.ranks = 256, .bytes = bytes * 4};
    const bool faster =
        time_of(coll::kAllGatherCirculant, 0, setup) < time_of(coll::kAllGatherDirect, 0, setup);
    always = always && faster;
    if (faster) wins = bytes;
  }
  return {"R-29",
          "gather-to-all of 8 B to 16 KiB: dissemination against flat",
          "dissemination always",
          always ? std::string("dissemination always") : fmt::format("dissemination up to {} B", wins),
          always,
          ""};
}
Finding gathers_in_flight() {
  std::array<double, 2> gains{};
  const std::array<std::uint64_t, 2> sizes{32, 16384};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Setup one{.ranks = 64, .bytes = sizes[i] * 4, .sync = coll::Sync::mine, .times = 8};
    Setup all = one;
    all.in_flight = true;
    gains[i] = 1 - time_of(coll::kAllGatherCirculant, 0, all) / time_of(coll::kAllGatherCirculant, 0, one);
  }
  return {"R-31",
          "gather-to-all in flight, 32 B and 16 KiB: less time",
          "48 %, 13 %",
          fmt::format("{:.0f} %, {:.0f} %", gains[0] * 100, gains[1] * 100),
          gains[0] > 0.4 && gains[0] < 0.6 && gains[1] > 0.05 && gains[1] < 0.25,
          "Eight in flight here; ports without a limit to the messages that wait"};
}

}  // namespace

std::vector<Finding> exchange_curves() {
  return {exchange_radix(), exchange_crossover(), exchanges_in_flight(), gather_to_all(),
          gathers_in_flight()};
}

}  // namespace aqueduct::aqsim
