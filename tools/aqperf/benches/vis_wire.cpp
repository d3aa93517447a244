#include "tools/aqperf/bench.hpp"
#include "tools/aqperf/benches/vis_ground.hpp"

#include <algorithm>
#include <random>

namespace aqueduct::perf {

// Pieces of 256 bytes, 850 bytes apart, compared with one transfer per piece
// and one contiguous transfer of all bytes.
void vis_pieces(Session& session, Reporter& reporter) {
  constexpr std::size_t kPiece = 256;
  constexpr std::int64_t kStride = 850;
  const Options& options = session.options();
  const auto sizes = options.bytes.value_or(find_bench(options.bench)->bytes).sizes();
  const auto room = [](std::size_t sum) { return sum / kPiece * std::size_t{kStride} + kPiece; };
  VisGround ground(session, room(sizes.back()));
  Endpoint& ep = session.ep();
  for (const std::size_t sum : sizes) {
    const std::uint64_t count = std::max<std::size_t>(sum / kPiece, 1);
    const std::size_t bytes = count * kPiece;
    for (const bool is_get : {false, true}) {
      const auto remote = pieces(ground.there(), Strided(kPiece, {{count, kStride}}));
      const auto local = contiguous(ground.here(), bytes);
      std::byte* const here = ground.here();
      const auto there = ground.there();
      const auto once = [=, &ep] {
        require(is_get ? get(ep, local, remote) : put(ep, remote, LocalConstPieces(local)),
                "strided transfer");
      };
      const auto whole = [=, &ep] {
        const std::span all(here, bytes);
        require(is_get ? get(ep, all, there) : put(ep, there, all), "contiguous transfer");
      };
      const auto flood = [=, &ep] {
        for (std::uint64_t i = 0; i < count; ++i) {
          const auto at = there + static_cast<std::int64_t>(i) * kStride;
          const std::span piece(here + i * kPiece, kPiece);
          require(is_get ? get_nbi(ep, piece, at) : put_nbi(ep, at, piece), "a single transfer");
        }
        require(ep.wait_implicit(), "wait_implicit");
      };
      Raw raw{ground.subject(whole), "one contiguous transfer; raw_flood: one for each piece"};
      raw.more.emplace_back("flood", ground.subject(flood));
      const Unit unit{Unit::Kind::megabytes_per_second, static_cast<double>(bytes)};
      reporter.add(measure(session, std::string("vis-pieces ") + put_or_get(is_get), bytes, unit,
                           ground.subject(once), raw));
    }
  }
}

// 100,000 random elements of 8 bytes, compared with single gets, 64 at a time.
void vis_gather(Session& session, Reporter& reporter) {
  constexpr std::size_t kElements = 100'000;
  constexpr std::size_t kRoom = std::size_t{1} << 20;  // number of elements to choose from
  VisGround ground(session, 8 * kRoom);
  Endpoint& ep = session.ep();
  std::mt19937_64 random(1);
  std::vector<std::int64_t> offsets(kElements);
  for (auto& offset : offsets) offset = static_cast<std::int64_t>(random() % kRoom * 8);
  std::byte* const here = ground.here();
  const auto there = ground.there();
  const auto remote = pieces(there, Indexed{offsets, 8});
  const auto once = [=, &ep] { require(get(ep, contiguous(here, 8 * kElements), remote), "indexed get"); };
  const auto single = [=, &ep, &offsets] {
    for (std::size_t i = 0; i < kElements; ++i) {
      require(get_nbi(ep, std::span(here + 8 * i, 8), there + offsets[i]), "get_nbi");
      if (i % 64 == 63) require(ep.wait_implicit(), "wait_implicit");
    }
    require(ep.wait_implicit(), "wait_implicit");
  };
  const Raw raw{ground.subject(single, kElements), "single gets, 64 under way"};
  reporter.add(measure(session, "vis-gather", 8, {}, ground.subject(once, kElements), raw));
}

// Two doubles at a distance, compared with two gets at a time, and one get of everything between them.
void vis_near(Session& session, Reporter& reporter) {
  const Options& options = session.options();
  VisGround ground(session, std::size_t{1} << 20);
  Endpoint& ep = session.ep();
  std::byte* const here = ground.here();
  const auto there = ground.there();
  for (const std::size_t distance : options.bytes.value_or(find_bench(options.bench)->bytes).sizes()) {
    const auto apart = static_cast<std::int64_t>(distance);
    const auto once = [=, &ep] {
      require(get(ep, contiguous(here, 16), pieces(there, Strided(8, {{2, apart}}))), "get of two");
    };
    const auto two = [=, &ep] {
      require(get_nbi(ep, std::span(here, 8), there), "get_nbi");
      require(get_nbi(ep, std::span(here + 8, 8), there + apart), "get_nbi");
      require(ep.wait_implicit(), "wait_implicit");
    };
    const auto box = [=, &ep] {
      require(get(ep, std::span(here + 16, distance + 8), there), "get of all between");
      std::memcpy(here, here + 16, 8);
      std::memcpy(here + 8, here + 16 + distance, 8);
      settle();
    };
    Raw raw{ground.subject(two), "two gets; raw_box: one of all between"};
    raw.more.emplace_back("box", ground.subject(box));
    reporter.add(measure(session, "vis-near", distance, {}, ground.subject(once), raw));
  }
}

}  // namespace aqueduct::perf
