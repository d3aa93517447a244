#pragma once

#include <aqueduct/vis.hpp>

#include "tools/aqperf/measure/sampler.hpp"
#include "tools/aqperf/raw/raw_memory.hpp"

#include <functional>
#include <string>
#include <vector>

namespace aqueduct::perf {

/// Memory for transfers of pieces: a segment, and private memory of the same size.
class VisGround {
 public:
  /// Collective.
  VisGround(Session& session, std::size_t bytes)
      : role_(session.pair()),
        segment_(require(Segment::create(session.ep(), bytes), "a segment for pieces")),
        here_(bytes) {}

  const Role& role() const noexcept { return role_; }
  GlobalPtr<std::byte> there(std::uint64_t offset = 0) const noexcept {
    return {role_.peer == kNoRank ? 0 : role_.peer, offset, segment_.id()};
  }
  std::byte* here() noexcept { return here_.data(); }
  /// A subject that the active ranks run; the others do nothing.
  Subject subject(std::function<void()> once, double operations = 1) const {
    Subject made{[](std::uint64_t) {}, role_.active, operations};
    if (role_.active) {
      made.run = [once = std::move(once)](std::uint64_t turns) {
        for (; turns > 0; --turns) once();
      };
    }
    return made;
  }

 private:
  Role role_;
  Segment segment_;
  std::vector<std::byte> here_;
};

inline const char* put_or_get(bool is_get) noexcept { return is_get ? "get" : "put"; }

}  // namespace aqueduct::perf
