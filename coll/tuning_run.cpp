#include "coll/tuning_run.hpp"

#include "coll/barriers.hpp"
#include "coll/tune/tuning_file.hpp"
#include "coll/tune/tuning_table.hpp"
#include "core/entry.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <utility>

namespace aqueduct::coll {

namespace {

constexpr std::array<std::uint64_t, 1> kNoSize{0};

/// A barrier has no size, so it is measured once.
std::span<const std::uint64_t> sizes_of(Collective operation, std::span<const std::uint64_t> bytes) noexcept {
  return operation == Collective::barrier ? std::span<const std::uint64_t>(kNoSize) : bytes;
}

}  // namespace

TuneOptions TuningRun::clamped(TuneOptions options) noexcept {
  options.time = std::clamp(options.time, std::chrono::nanoseconds(0), kLongest);
  options.work_limit = std::clamp(options.work_limit, std::chrono::nanoseconds(0), kLongest);
  return options;
}

TuningRun::TuningRun(Team& team, TuneOptions options) noexcept
    : team_(team),
      options_(clamped(std::move(options))),
      state_(team.state().endpoint),
      engine_(*Collectives::engine_of(team.state())),
      begin_(state_.clock.now()) {}

// After a failure peers may still write to the buffers.
TuningRun::~TuningRun() {
  const core::Entry entry(state_);
  if (memory_ != nullptr && (unfinished_ || !engine_.broken().ok())) {
    try {
      state_.layer<Collectives>()->keep(memory_);
    } catch (const std::bad_alloc&) {
      static_cast<void>(new std::shared_ptr<void>(memory_));
    }
  }
}

std::chrono::nanoseconds TuningRun::elapsed() const noexcept { return state_.clock.now() - begin_; }

std::chrono::nanoseconds TuningRun::patience() const noexcept {
  const std::chrono::nanoseconds all = options_.time + options_.work_limit + kSlack;
  // What was begun is finished after the time is over: another member may work just as long as it may, and a call may take as
  // long as one has taken.
  return std::max<std::chrono::nanoseconds>(all - elapsed(), options_.work_limit + longest_ + kSlack);
}

void TuningRun::problem(ErrorCode code) noexcept {
  if (problem_ == 0) problem_ = static_cast<std::uint64_t>(code) << 32 | ~state_.rank;
}

Status TuningRun::give_up(ErrorCode why) noexcept {
  const core::Entry entry(state_);
  engine_.give_up_calls(why);
  return why;
}

/// A barrier of the team's conduit has no algorithms of ours.
bool TuningRun::is_tuned(Collective operation) const noexcept {
  if (engine_.is_forced(operation)) return false;
  return operation != Collective::barrier || (!Barriers::has_native(team_.state()) && engine_.has_barriers());
}

Status TuningRun::find(Collective operation, std::uint64_t bytes, std::size_t keys_left, TuneReport& report) {
  const auto all = static_cast<std::uint64_t>(options_.time.count());
  if (const bool tuned = is_tuned(operation); !tuned || elapsed_ >= all) {
    ++report.left_out;
    ++(tuned ? report.left_out_by_time : report.left_out_by_setting);
    return {};
  }
  const auto call = call_of(operation, bytes);
  std::vector<Timed> candidates;
  if (call) {
    const core::Entry entry(state_);
    candidates =
        engine_.worth_measuring(call->key, call->shape, std::max<std::uint32_t>(options_.candidates, 1));
  }
  if (candidates.empty()) {
    ++report.left_out;
    return {};
  }
  if (const Status status = agree({}); !status) return status;  // all have their memory
  Field field{*call, std::move(candidates), {}};
  if (operation != Collective::barrier) {
    if (const Status status = bind_all(field); !status) return status;
  }
  if (field.algorithms.empty()) {
    ++report.left_out;
    return {};
  }
  if (const Status status = set_row(field); !status) return status;
  const std::chrono::nanoseconds share(
      static_cast<std::int64_t>((all - std::min(all, elapsed_)) / keys_left));
  const auto found = search(
      field.algorithms.size(), share,
      [&](std::span<const std::size_t> who, std::uint32_t times) { return measure(field, who, times); });
  if (!found) return found.status();
  if (const Status status = end_plans(field); !status) return status;
  Decision decision;
  decision.key = call->key;
  decision.best = field.algorithms[found->best];
  decision.best.picoseconds = found->best_time * 1000;
  decision.samples = found->samples;
  Tuned tuned;
  tuned.operation = operation;
  tuned.bytes = bytes;
  tuned.algorithm = name_of(decision.best);
  tuned.samples = found->samples;
  tuned.decided = found->decided;
  tuned.median = std::chrono::nanoseconds(static_cast<std::int64_t>(found->best_time));
  tuned.tried = static_cast<std::uint32_t>(field.algorithms.size());
  if (found->runner_up != found->best) {
    decision.runner_up = field.algorithms[found->runner_up];
    decision.runner_up.picoseconds = found->runner_up_time * 1000;
    tuned.runner_up = name_of(decision.runner_up);
    tuned.runner_up_median = std::chrono::nanoseconds(static_cast<std::int64_t>(found->runner_up_time));
  }
  if (options_.exhaustive != 0) {
    if (const Status status = compare_with_all(field, decision.best, tuned); !status) return status;
  }
  decisions_.push_back(decision);
  report.found.push_back(std::move(tuned));
  return {};
}

bool TuningRun::save() noexcept try {
  const TuningPlace place = engine_.tuning_place();
  const std::string why = save_tuning(tuning_file(options_.save, place), place, decisions_, kLockPatience,
                                      detail::algorithms_of(state_.config.added_algorithms()));
  if (!why.empty()) state_.log.warn("tune: what was found is not saved: {}", why);
  return why.empty();
} catch (const std::exception& thrown) {
  state_.log.warn("tune: what was found is not saved: {}", thrown.what());
  return false;
}

Result<TuneReport> TuningRun::run(std::span<const Collective> operations,
                                  std::span<const std::uint64_t> bytes) {
  TuneReport report;
  memory_ = std::make_shared<Memory>();
  if (const Status status = agree_on_arguments(operations, bytes); !status) return status;
  std::size_t keys_left = 0;
  for (const Collective operation : operations) keys_left += sizes_of(operation, bytes).size();
  if (team_.size() == 1) {  // nothing to choose
    report.left_out = keys_left;
    return report;
  }
  for (const Collective operation : operations) {
    for (const std::uint64_t size : sizes_of(operation, bytes)) {
      if (const Status status = find(operation, size, keys_left--, report); !status) return status;
    }
  }
  {
    const core::Entry entry(state_);
    std::vector<Decision> all(engine_.tuning().decisions().begin(), engine_.tuning().decisions().end());
    // What was found now stays.
    std::erase_if(all, [&](const Decision& old) {
      return std::ranges::any_of(decisions_, [&](const Decision& one) { return one.key == old.key; });
    });
    const std::size_t room =
        TuningTable::kMostDecisions - std::min(decisions_.size(), TuningTable::kMostDecisions);
    const std::size_t dropped = leave_out_unlike(team_.size(), all, room);
    all.insert(all.end(), decisions_.begin(), decisions_.end());
    if (dropped != 0 && team_.index() == 0)
      state_.log.warn(
          "tune: {} decisions of the team's table are left out, of the numbers of ranks least like its {}. A "
          "table has {}",
          dropped, team_.size(), TuningTable::kMostDecisions);
    engine_.have_tuning(std::make_shared<const TuningTable>(engine_.tuning().models(), all));
  }
  const bool saves = team_.index() == 0 && !options_.save.empty() && !decisions_.empty();
  const auto saved = agree_on_saving(saves && save());
  if (!saved) return saved.status();
  report.saved = *saved;
  return report;
}

}  // namespace aqueduct::coll
