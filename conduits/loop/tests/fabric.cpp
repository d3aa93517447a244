#include "tests/conformance/faults/with_faults.hpp"
#include "tools/aqconform/fabrics.hpp"

namespace aqueduct::conformance {

namespace {

/// Loop alone: all ranks in one process, sharing only the memory that loop maps.
Fabric plain(std::string name, Settings settings) {
  settings.push_back({"near", "off"});
  return {.name = "loop-" + name, .conduit = "loop", .settings = std::move(settings), .stores_once = true};
}

/// Loop wrapped by a FaultyNetwork.
Fabric faulty(std::string name, Settings settings, const FaultPlan& plan, bool hidden = false) {
  Fabric fabric = with_faults(plain(std::move(name), std::move(settings)), plan);
  fabric.hidden = hidden;
  return fabric;
}

}  // namespace

std::vector<Fabric> loop_fabrics(std::uint64_t seed) {
  const std::string turns = std::to_string(seed % 1'000'000'000 + 1);
  const Settings bare = {};
  const Settings native = {{"loop_native", "rma"}};
  constexpr bool kHidden = true;
  return {
      plain("bare", bare),
      plain("native", native),
      plain("multiple", {{"loop_native", "rma"}, {"threads", "multiple"}}),
      plain("mapped", {{"loop_native", "all"}}),
      // Short operations by the conduit, long ones by the library.
      plain("native-collectives", {{"loop_native", "rma"}, {"loop_collectives", "on"}}),
      plain("tight", {{"loop_packet", "256"}, {"loop_queue", "1"}}),
#ifndef __SANITIZE_THREAD__  // one rank runs at a time: TSan would take minutes and find nothing
      // All wait while a rank sleeps that has the turn, so these only yield; to wait for a turn is a sleep already.
      plain("turns", {{"loop_seed", turns}, {"yield", "60s"}}),
#endif
      faulty("refusing", native, {.seed = seed, .refuse = 0.3}),
      faulty("late", bare, {.seed = seed, .delay = 0.2, .reorder = 0.3, .repair = 0.02}),
      faulty("posted", native,
             {.seed = seed, .refuse = 0.1, .delay = 0.1, .reorder = 0.1, .post = 0.5, .guard = true}),
      // Words go as native atomics, or by the reference layer, as on networks that promise nothing of words.
      faulty("wordless", native, {.seed = seed, .no_whole_words = true}),
      faulty("wordless-by-messages", {{"loop_native", "rma"}, {"atomics", "processor"}},
             {.seed = seed, .reorder = 0.2, .no_whole_words = true}),
      // Calls lack of memory a failure, which messages put up with (tests/integration/broken_conduits_test.cpp).
      faulty("lacking", native, {.seed = seed, .refuse = 0.3, .lack = 0.05}, kHidden),
      // Broken on purpose: each must fail a test case (tests/integration/broken_conduits_test.cpp).
      faulty("broken-duplicate", bare, {.seed = seed, .duplicate = 0.02}, kHidden),
      faulty("broken-lose", bare, {.seed = seed, .lose = 0.02}, kHidden),
      faulty("broken-corrupt", native, {.seed = seed, .corrupt = 0.02}, kHidden),
      faulty("broken-early", native, {.seed = seed, .complete_early = 0.2}, kHidden),
      faulty("broken-silent", native, {.seed = seed, .no_completion = 0.02}, kHidden),
      faulty("broken-misdeliver", bare, {.seed = seed, .misdeliver = 0.02}, kHidden),
      faulty("broken-overstate", bare, {.seed = seed, .overstate = 64}, kHidden),
  };
}

}  // namespace aqueduct::conformance
