#include "core/endpoint_state.hpp"
#include "tools/aqperf/bench.hpp"
#include "tools/aqperf/benches/vis_ground.hpp"
#include "vis/piece_transfers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>

namespace aqueduct::perf {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kAuto = vis::kPlans;
constexpr std::array<const char*, vis::kPlans + 1> kNames{"direct", "pieces", "packed",
                                                          "box",    "native", "auto"};

// Chosen: the minimum of 11 times differs by a few percent from one run to the next.
constexpr int kTurns = 11;

struct Case {
  std::size_t piece;
  std::uint64_t count;
  std::int64_t stride;
  bool is_get;
};

/// 500 shapes: 2 to 800 pieces of 8 B to 4 KiB, at five distances, put and get.
std::vector<Case> grid() {
  std::vector<Case> all;
  for (const std::size_t piece : {8, 32, 128, 512, 4096}) {
    for (const std::uint64_t count : {2, 3, 6, 12, 25, 50, 100, 200, 400, 800}) {
      for (const double apart : {1.25, 2.0, 4.0, 16.0, 100.0}) {
        const auto stride = static_cast<std::int64_t>(static_cast<double>(piece) * apart) / 8 * 8;
        for (const bool is_get : {false, true})
          all.push_back({piece, count, std::max<std::int64_t>(stride, 16), is_get});
      }
    }
  }
  return all;
}

/// How many transfers each plan has done so far.
std::array<std::uint64_t, vis::kPlans> counts(const Endpoint& ep) {
  const Statistics s = ep.statistics();
  return {s.vis_direct, s.vis_pieces, s.vis_packed, s.vis_box, s.vis_native};
}

double time_of(const std::function<void()>& once, int turns) {
  const auto begin = Clock::now();
  for (int i = 0; i < turns; ++i) once();
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / turns;
}

}  // namespace

void vis_plans(Session& session, Reporter& reporter) {
  const std::size_t room = std::size_t{64} << 20;
  VisGround ground(session, room);
  Endpoint& ep = session.ep();
  vis::PieceTransfers& transfers = *ep.state().vis;
  const bool active = ground.role().active;
  Row row;
  std::size_t shapes = 0;
  std::size_t good = 0;
  double worst = 0;
  if (active) {
    for (Case c : grid()) {
      // Shapes with a large stride have fewer pieces, so that they fit.
      c.count = std::min<std::uint64_t>(c.count, (room - c.piece) / static_cast<std::uint64_t>(c.stride));
      const auto remote = pieces(ground.there(), Strided(c.piece, {{c.count, c.stride}}));
      const auto local = contiguous(ground.here(), c.piece * c.count);
      const auto once = [&] {
        require(c.is_get ? get(ep, local, remote) : put(ep, remote, LocalConstPieces(local)),
                "strided transfer");
      };
      transfers.force(kAuto);
      time_of(once, 20);  // lets the planner find its plan
      std::array<double, vis::kPlans + 1> ns;
      ns.fill(std::numeric_limits<double>::infinity());
      std::array<bool, vis::kPlans> had;  // whether the plan is possible; if not, forcing it has no effect
      for (std::size_t plan = 0; plan < kAuto; ++plan) {
        transfers.force(plan);
        const std::uint64_t before = counts(ep)[plan];
        once();
        had[plan] = counts(ep)[plan] != before;
      }
      for (int turn = 0; turn < kTurns; ++turn) {
        for (std::size_t plan = 0; plan <= kAuto; ++plan) {
          const bool sensible = plan == kAuto || had[plan];
          // A plan that was ten times slower twice is not timed again; the planner's own choice always is.
          const bool hopeless = plan != kAuto && turn > 1 && ns[plan] > 10 * *std::ranges::min_element(ns);
          if (!sensible || hopeless) continue;
          transfers.force(plan);
          const int turns = ns[plan] < 100'000 ? 6 : 1;
          ns[plan] = std::min(ns[plan], time_of(once, turns));
        }
      }
      transfers.force(kAuto);
      const auto best = std::min_element(ns.begin(), ns.end() - 1);
      const double ratio = ns[kAuto] / *best;
      ++shapes;
      good += ratio <= 1.1 ? 1 : 0;
      worst = std::max(worst, ratio);
      row.figure.median += ns[kAuto];
      row.raw = row.raw.value_or(0) + *best;
      if (session.rank() == 0 && !session.options().json) {
        fmt::print("{} {:5} x {:5} B, {:7} apart: auto {:9.0f} ns, best {} {:9.0f} ns, {:.2f}\n",
                   put_or_get(c.is_get), c.count, c.piece, c.stride, ns[kAuto],
                   kNames[static_cast<std::size_t>(best - ns.begin())], *best, ratio);
      }
    }
    row.figure.median /= static_cast<double>(shapes);
    row.raw = *row.raw / static_cast<double>(shapes);
    row.figure.samples = shapes;
  }
  // The passive ranks serve the transfers inside this barrier.
  require(ep.barrier(), "barrier");
  row.bench = "vis-plans";
  row.ranks = session.ranks();
  row.conduit = ep.conduit_of(ground.there().rank());
  row.raw_what = "the best plan for each shape";
  row.extra.emplace_back("within_10_percent",
                         shapes == 0 ? 0 : static_cast<double>(good) / static_cast<double>(shapes));
  row.extra.emplace_back("worst_ratio", worst);
  reporter.add(row);
}

}  // namespace aqueduct::perf
