#include "tools/aqperf/bench.hpp"
#include "tools/aqperf/benches/vis_ground.hpp"

#include <array>
#include <bit>
#include <utility>

namespace aqueduct::perf {

namespace {

/// A section of every second element in each dimension: 64 KiB of elements,
/// with counts as equal as powers of two allow.
struct Grid {
  std::array<std::uint64_t, 3> count{1, 1, 1};
  std::array<std::int64_t, 3> stride{};

  Grid(std::size_t element, int dimensions, std::int64_t gap) {
    int log = std::bit_width(std::size_t{65536} / element) - 1;
    for (int d = 2; d > 2 - dimensions; --d) {
      const int share = log / (dimensions - (2 - d));
      count[static_cast<std::size_t>(d)] = std::uint64_t{1} << share;
      log -= share;
    }
    std::int64_t reach = static_cast<std::int64_t>(element) * gap;
    for (std::size_t d = 3; d-- > 0;) {
      stride[d] = reach;
      reach = reach * static_cast<std::int64_t>(count[d]) + 64;
    }
  }
  Strided shape(std::size_t element, int dimensions) const {
    std::array<Dimension, 3> dims;
    for (std::size_t d = 0; d < 3; ++d) dims[d] = {count[d], stride[d]};
    return Strided(element, std::span(dims).last(static_cast<std::size_t>(dimensions)));
  }
};

/// The loops that a programmer writes for a known element size and number of dimensions.
template <std::size_t kElement>
void loops_2d(std::byte* to, const Grid& a, const std::byte* from, const Grid& b) {
  for (std::uint64_t j = 0; j < a.count[1]; ++j) {
    std::byte* out = to + static_cast<std::int64_t>(j) * a.stride[1];
    const std::byte* in = from + static_cast<std::int64_t>(j) * b.stride[1];
    for (std::uint64_t i = 0; i < a.count[2]; ++i, out += a.stride[2], in += b.stride[2]) {
      std::memcpy(out, in, kElement);
    }
  }
}
template <std::size_t kElement>
void loops_3d(std::byte* to, const Grid& a, const std::byte* from, const Grid& b) {
  for (std::uint64_t k = 0; k < a.count[0]; ++k) {
    loops_2d<kElement>(to + static_cast<std::int64_t>(k) * a.stride[0], a,
                       from + static_cast<std::int64_t>(k) * b.stride[0], b);
  }
}

using Loops = void (*)(std::byte*, const Grid&, const std::byte*, const Grid&);

Loops loops_for(std::size_t element, int dimensions) {
  const auto pick = [&]<std::size_t... kLog>(std::index_sequence<kLog...>) {
    Loops found = nullptr;
    ((element == std::size_t{8} << kLog
          ? static_cast<void>(found = dimensions == 2 ? loops_2d<std::size_t{8} << kLog>
                                                      : loops_3d<std::size_t{8} << kLog>)
          : static_cast<void>(0)),
     ...);
    return found;
  };
  return pick(std::make_index_sequence<10>{});
}

}  // namespace

void vis_nest(Session& session, Reporter& reporter) {
  const Options& options = session.options();
  VisGround ground(session, std::size_t{8} << 20);
  for (const std::size_t element : options.bytes.value_or(find_bench(options.bench)->bytes).sizes()) {
    for (const int dimensions : {2, 3}) {
      const Loops by_hand = loops_for(element, dimensions);
      if (by_hand == nullptr)
        throw Failure("--bytes: vis-nest has loops only for 8, 16, … 4096 bytes", kUsageError);
      for (const bool is_get : {false, true}) {
        const Grid far(element, dimensions, 2);
        const Grid own(element, dimensions, 3);
        Endpoint& ep = session.ep();
        const auto remote = pieces(ground.there(), far.shape(element, dimensions));
        const auto local = pieces(ground.here(), own.shape(element, dimensions));
        const auto once = [=, &ep] {
          require(is_get ? get(ep, local, remote) : put(ep, remote, LocalConstPieces(local)),
                  "strided transfer");
          settle();
        };
        Raw raw{std::nullopt, "none: the peer is not mapped"};
        std::byte* const mapped =
            ground.role().active ? ep.local(ground.there(), std::size_t{8} << 20) : nullptr;
        if (session.everyone(!ground.role().active || mapped != nullptr)) {
          raw.what = "the loops written by hand";
          raw.subject = ground.subject([=, here = ground.here()] {
            is_get ? by_hand(here, own, mapped, far) : by_hand(mapped, far, here, own);
            settle();
          });
        }
        const std::string name =
            std::string("vis-nest ") + put_or_get(is_get) + (dimensions == 2 ? " 2d" : " 3d");
        reporter.add(measure(session, name, element, {}, ground.subject(once), raw));
      }
    }
  }
}

}  // namespace aqueduct::perf
