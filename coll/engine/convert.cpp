// Elements whose partial results travel in a wider type: converted before the first step of a run, and after the last.

#include "coll/engine/team_engine.hpp"

namespace aqueduct::coll {

namespace {

/// Where a run's part of a block is in the user's buffer, and how many elements it has.
struct UserPart {
  std::uint64_t pitch;
  std::uint64_t shift;
  std::uint64_t count;

  UserPart(const Run& run, const Request& request) noexcept
      : pitch(request.shape.bytes),
        shift(run.shift / request.combiner.wide_element * request.shape.element),
        count(run.bytes / request.combiner.wide_element) {}
};

}  // namespace

void TeamEngine::convert_in(Run& run) const noexcept {
  const Request& request = run.operation->call->request;
  if (run.operation->memory.in == nullptr) return;
  const UserPart part(run, request);
  if (part.count == 0) return;
  for (Rank block = 0; block < blocks_in(request.shape, position_); ++block) {
    request.combiner.widen(run.in + block * run.bytes,
                           run.operation->memory.in + block * part.pitch + part.shift, part.count);
  }
}

void TeamEngine::convert_out(Run& run) const noexcept {
  const Request& request = run.operation->call->request;
  if (run.operation->memory.out == nullptr) return;
  const UserPart part(run, request);
  const bool nothing = request.shape.operation == Collective::exscan && position_ == 0;
  if (part.count == 0 || nothing) return;
  for (Rank block = 0; block < blocks_out(request.shape, position_); ++block) {
    request.combiner.narrow(run.operation->memory.out + block * part.pitch + part.shift,
                            run.out + block * run.bytes, part.count);
  }
}

}  // namespace aqueduct::coll
