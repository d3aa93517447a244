#include "coll/engine/redirects.hpp"

#include "coll/engine/collectives.hpp"
#include "coll/engine/team_engine.hpp"

#include <algorithm>
#include <new>

namespace aqueduct::coll {

namespace {

/// The bytes between the first and the last one that a step touches at a place.
struct Extent {
  Space space = Space::none;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  Extent(const Place& place, const Step& step) noexcept : space(place.space) {
    if (step.bytes == 0 || step.runs == 0) space = Space::none;
    const std::uint64_t before = (step.runs - 1) * place.pitch;
    const bool backwards = step.runs > 1 && static_cast<std::int64_t>(place.pitch) < 0;
    begin = backwards ? 0 : place.offset;
    end = backwards ? UINT64_MAX : place.offset + (step.runs > 1 ? before : 0) + step.bytes;
  }
  bool meets(const Extent& other) const noexcept {
    return space == other.space && space != Space::none && begin < other.end && other.begin < end;
  }
};

bool is_announced(const Place& place) noexcept {
  return place.space == Space::landed || place.space == Space::where || place.space == Space::told;
}

/// Whether the member's own memory at `extent` is read or written by the step.
bool touches(const Step& step, const Extent& extent) noexcept {
  switch (step.kind) {
    case Step::Kind::nothing:
    case Step::Kind::signal:
    case Step::Kind::tell: return false;
    case Step::Kind::put: return Extent(step.from, step).meets(extent);
    case Step::Kind::get: return Extent(step.to, step).meets(extent);
    case Step::Kind::copy:
    case Step::Kind::reduce:
      return Extent(step.from, step).meets(extent) || Extent(step.to, step).meets(extent) ||
             (step.kind == Step::Kind::reduce && Extent(step.with, step).meets(extent));
    case Step::Kind::native: return true;
  }
  return true;
}

bool is_one_range(const Step& step) noexcept {
  return step.runs == 1 || (step.from.pitch == step.bytes && step.to.pitch == step.bytes);
}

bool reads_input(const Step& step) noexcept {
  const bool reads = step.kind == Step::Kind::put || step.kind == Step::Kind::copy ||
                     step.kind == Step::Kind::reduce || step.kind == Step::Kind::native;
  return reads &&
         (step.from.space == Space::in || step.with.space == Space::in || step.kind == Step::Kind::native);
}

}  // namespace

RedirectedSteps find_redirected(std::span<const Step> steps) noexcept {
  RedirectedSteps found;
  for (const Step& step : steps) {
    if (is_announced(step.from) || is_announced(step.to)) return {};
    found.reads_input = found.reads_input || reads_input(step);
  }
  for (std::size_t i = 0; i < steps.size() && found.count < kMostRedirects; ++i) {
    const Step& step = steps[i];
    if (step.kind != Step::Kind::copy || step.from.space != Space::scratch || step.to.space != Space::out ||
        step.bytes * step.runs < kLeastRedirected || !is_one_range(step))
      continue;
    const Extent from(step.from, step);
    const Extent to(step.to, step);
    const bool alone = std::none_of(steps.begin(), steps.end(), [&](const Step& other) {
      return &other != &step && (touches(other, from) || touches(other, to));
    });
    if (alone) found.index[found.count++] = static_cast<std::uint16_t>(i);
  }
  return found;
}

/// The conduit that stores what the members put here; null: none does, or several.
core::NativeRedirects* TeamEngine::redirects_of_team() const noexcept {
  core::Conduit* const conduit = traits_.mapped ? nullptr : one_conduit();
  return conduit != nullptr ? conduit->redirects() : nullptr;
}

/// Lets the conduit store blocks in the output of a run. Its lanes are about to run.
void TeamEngine::redirect_arrivals(Run& run) noexcept {
  const Method& method = run.operation->method();
  const RedirectedSteps& steps = method.redirected;
  if (steps.count == 0 || run.lanes[0].kept == nullptr) return;  // steps are kept of whole pieces alone
  if (run.redirects == nullptr) run.redirects.reset(new (std::nothrow) RunRedirects);
  if (run.redirects == nullptr) return;
  const MemberPlace& mine = places_[position_];
  const Rank blocks = blocks_in(run.operation->call->request.shape, position_);
  const std::byte* const in = steps.reads_input ? run.in : nullptr;
  const std::uint64_t in_bytes = blocks == 0 ? 0 : (blocks - 1) * method.run.pitch + run.bytes;
  RunRedirects& mine_of_run = *run.redirects;
  for (std::uint32_t i = 0; i < steps.count; ++i) {
    const Step& step = method.steps[steps.index[i]];
    const std::uint64_t bytes = step.bytes * step.runs;
    std::byte* const to = here(run, step.to);
    if (in != nullptr && to < in + in_bytes && in < to + bytes) continue;
    RunRedirects::One& one = mine_of_run.all[i];
    one.step = &step;
    one.redirect.set(mine.segment, mine.offset + run.portion.offset + step.from.offset, here(run, step.from),
                     bytes, to);
    redirects_->begin_redirect(one.redirect);
    ++mine_of_run.open;
  }
}

/// The bytes of a copy have arrived: takes to the output what is not there yet. False: the copy was not redirected.
bool TeamEngine::take_redirected(Run& run, const Step& step) noexcept {
  for (RunRedirects::One& one : run.redirects->all) {
    if (one.step != &step) continue;
    redirects_->end_redirect(one.redirect);
    one.step = nullptr;
    --run.redirects->open;
    layer_.counts().redirected += step.bytes * step.runs - one.redirect.take_rest();
    return true;
  }
  return false;
}

/// The run is given up: nothing more goes to its output.
void TeamEngine::end_redirects(Run& run) noexcept {
  if (run.redirects == nullptr || run.redirects->open == 0) return;
  for (RunRedirects::One& one : run.redirects->all) {
    if (one.step == nullptr) continue;
    redirects_->end_redirect(one.redirect);
    one.step = nullptr;
  }
  run.redirects->open = 0;
}

}  // namespace aqueduct::coll
