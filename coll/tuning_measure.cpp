// What a search measures.

#include "coll/tune/rounds.hpp"
#include "coll/tuning_run.hpp"
#include "core/entry.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <numeric>
#include <utility>

namespace aqueduct::coll {

namespace {

/// The most bytes of the buffers of one operation on one member. Chosen: so that a tuned job does not swap.
constexpr std::uint64_t kMostMemory = std::uint64_t{1} << 30;

/// Calls in a row: how long they take together (ns, by the fastest candidate), and how many there are at the most. Chosen: more would
/// only make the search longer. In fewer calls in which messages go one way, their sender has done when the first one arrives, and what
/// is measured is how late the receiver was.
constexpr std::uint64_t kRowTakes = 40'000;
constexpr std::uint32_t kFirstRow = 16;
constexpr std::uint64_t kLongestRow = 256;
constexpr std::uint64_t kLongestOfOne = 8 * kRowTakes;  // of a slow candidate: beyond kFirstRow calls

/// How many calls of each candidate are in a row, by one sample of each.
std::vector<std::uint32_t> rows_of(std::span<const Samples> samples, std::uint32_t in_a_row) {
  std::vector<std::uint32_t> rows;
  for (const Samples& one : samples) {
    const std::uint64_t own = kLongestOfOne / std::max<std::uint64_t>(one.front(), 1);
    rows.push_back(static_cast<std::uint32_t>(
        std::min<std::uint64_t>(in_a_row, std::max<std::uint64_t>(own, kFirstRow))));
  }
  return rows;
}

}  // namespace

/// Allocates this member's buffers too. Errors: too_large, the same on all members; no_memory.
Result<TuningRun::Call> TuningRun::call_of(Collective operation, std::uint64_t bytes) {
  Call made;
  Shape shape;
  shape.operation = operation;
  if (operation == Operation::barrier) {
    shape.ranks = team_.size();
    made.key = engine_.key_for(shape);
    made.shape = judged_shape(made.key);
    return made;
  }
  shape.in = options_.calls.in;
  shape.out = options_.calls.out;
  shape.order = reduces(operation) ? options_.calls.order : Order::any;
  shape.ranks = team_.size();
  shape.element = reduces(operation) ? bytes_of_element(options_.type) : 1;
  shape.bytes = shape.pitch = bytes;
  // As TeamEngine::asked_of has it: a conduit does some operators on some types.
  if (reduces(operation)) shape.type = options_.type;
  made.key = engine_.key_for(shape);
  made.shape = shape;
  if (bytes > kMostMemory / team_.size() / 2) return ErrorCode::too_large;
  const auto prepare = [&](std::vector<std::byte>& memory, Rank blocks) {
    detail::CollBuffer buffer;
    memory.resize(std::max<std::size_t>(memory.size(), blocks * bytes + 1));
    buffer.where = detail::CollBuffer::Where::mine;
    buffer.bytes = blocks * bytes;
    buffer.memory = memory.data();
    return buffer;
  };
  made.call.operation = operation;
  made.call.type = reduces(operation) ? options_.type : ElementType::bytes;
  made.call.element = shape.element;
  made.call.options = options_.calls;
  made.call.options.limit = std::chrono::nanoseconds::max();
  made.call.options.no_trials = false;  // a plan tries nothing, and members may differ here
  try {
    made.call.in = prepare(memory_->in, blocks_in(shape, team_.index()));
    made.call.out = prepare(memory_->out, blocks_out(shape, team_.index()));
  } catch (const std::bad_alloc&) {
    problem(ErrorCode::no_memory);
  }
  return made;
}

Status TuningRun::bind_all(Field& field) {
  const Call& call = field.call;
  for (std::size_t i = 0; i < field.algorithms.size();) {
    {
      const core::Entry entry(state_);
      engine_.try_out(call.key, field.algorithms[i]);
    }
    auto plan = detail::coll_bind(team_, call.call);
    bool used = false;
    {
      const core::Entry entry(state_);
      used = engine_.end_trial();
    }
    if (!plan) return plan.status();
    if (used) {
      field.plans.push_back(std::move(*plan));
      ++i;
      continue;
    }
    if (const Status status = plan->end(); !status) return status;
    field.algorithms.erase(field.algorithms.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return {};
}

Status TuningRun::end_plans(Field& field) noexcept {
  for (CollPlan& plan : field.plans) {
    if (const Status status = plan.end(); !status) return status;
  }
  return {};
}

/// The next barrier is carried out by this candidate, on all members. It has been chosen when this returns.
Status TuningRun::try_barrier(const Field& field, std::size_t which) noexcept {
  const core::Entry entry(state_);
  engine_.try_out(field.call.key, field.algorithms[which]);
  return engine_.choose_barrier();
}

void TuningRun::work() noexcept {
  // After a problem the member goes on without it, in step with the others, until they learn of it.
  if (!options_.work || problem_ != 0) return;
  const auto before = state_.clock.now();
  try {
    options_.work();
  } catch (const std::exception& thrown) {
    state_.log.error("tune: the work function has thrown: {}", thrown.what());
    problem(ErrorCode::invalid_argument);
  } catch (...) {
    state_.log.error("tune: the work function has thrown something that is no std::exception");
    problem(ErrorCode::invalid_argument);
  }
  const std::chrono::nanoseconds took = state_.clock.now() - before;
  if (took <= options_.work_limit || problem_ != 0) return;
  state_.log.error("tune: the work function has taken {} ms, and its limit is {} ms",
                   std::chrono::duration_cast<std::chrono::milliseconds>(took).count(),
                   std::chrono::duration_cast<std::chrono::milliseconds>(options_.work_limit).count());
  problem(ErrorCode::timed_out);
}

Result<std::uint64_t> TuningRun::measure_once(Field& field, std::size_t which) {
  Event together = team_.barrier_nb();
  if (const Status status = wait(together); !status) return status;
  const bool barrier = field.call.key.operation == Operation::barrier;
  if (barrier) {
    // A member that has no memory for it would leave the others waiting.
    if (const Status status = try_barrier(field, which); !status) {
      {
        const core::Entry entry(state_);
        engine_.end_trial();
      }
      return give_up(status.code());
    }
  }
  const auto before = state_.clock.now();
  Event event = barrier ? team_.barrier_nb() : field.plans[which].start();
  work();
  const Status status = wait(event);
  const std::chrono::nanoseconds took = state_.clock.now() - before;
  if (barrier) {
    const core::Entry entry(state_);
    engine_.end_trial();
  }
  if (!status) return status;
  return static_cast<std::uint64_t>(took.count());
}

// In a program's loop a short call begins while the last one still ends on other members, and a call like an earlier one takes fewer
// instructions: a broadcast of 8 bytes in shared memory takes a tenth of what it takes behind a barrier. The barrier and the plan
// cost the same whatever the algorithm is, and more than a short call, so behind them all algorithms look alike.
Status TuningRun::set_row(Field& field) {
  if (overlaps_ || field.call.key.operation == Operation::barrier) return {};
  std::vector<std::size_t> all(field.algorithms.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  // First alone, behind a barrier; then as they come, which may be much faster.
  for (const std::uint64_t most : {std::uint64_t{kFirstRow}, kLongestRow}) {
    const auto samples = measure(field, all, 1);
    if (!samples) return samples.status();
    std::uint64_t least = kRowTakes;
    for (const Samples& one : *samples) least = std::min(least, one.front());
    field.in_a_row = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(kRowTakes / std::max<std::uint64_t>(least, 1), 1, most));
    if (field.in_a_row == 1) return {};
    field.rows = rows_of(*samples, field.in_a_row);
  }
  return {};
}

Status TuningRun::set_rows(Field& field) {
  if (field.in_a_row <= kFirstRow) return {};
  std::vector<std::size_t> all(field.algorithms.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  field.rows.assign(all.size(), kFirstRow);
  const auto samples = measure(field, all, 1);
  if (!samples) return samples.status();
  field.rows = rows_of(*samples, field.in_a_row);
  return {};
}

Result<std::uint64_t> TuningRun::measure_in_a_row(const Field& field, std::size_t which) {
  Event together = team_.barrier_nb();
  if (const Status status = wait(together); !status) return status;
  detail::CollCall call = field.call.call;
  call.options.no_trials = true;
  call.options.limit = patience();
  {
    const core::Entry entry(state_);
    engine_.try_out(field.call.key, field.algorithms[which]);
  }
  Status status = detail::coll_run(team_, call);  // the first one chooses, and brings the members together
  const auto before = state_.clock.now();
  const std::uint32_t row = field.rows.empty() ? field.in_a_row : field.rows[which];
  for (std::uint32_t i = 0; i < row && status; ++i) status = detail::coll_run(team_, call);
  const std::chrono::nanoseconds took = state_.clock.now() - before;
  {
    const core::Entry entry(state_);
    engine_.end_trial();
  }
  if (!status) return outcome(status);
  longest_ = std::max(longest_, took);
  return static_cast<std::uint64_t>(took.count()) / row;
}

Result<std::vector<Samples>> TuningRun::measure(Field& field, std::span<const std::size_t> who,
                                                std::uint32_t times) {
  std::vector<std::uint64_t> taken(who.size() * times);
  for (std::uint32_t time = 0; time < times; ++time) {
    for (std::size_t i = 0; i < who.size(); ++i) {
      const std::size_t turn = in_turn(i, time, who.size());
      const auto took =
          field.in_a_row > 1 ? measure_in_a_row(field, who[turn]) : measure_once(field, who[turn]);
      if (!took) return took.status();
      taken[turn * times + time] = *took;
    }
  }
  if (const Status status = agree(taken); !status) return status;
  std::vector<Samples> samples;
  const auto first = memory_->words.begin() + kOwnWords;
  for (std::size_t i = 0; i < who.size(); ++i) {
    const auto begin = first + static_cast<std::ptrdiff_t>(i * times);
    samples.emplace_back(begin, begin + times);
  }
  return samples;
}

}  // namespace aqueduct::coll
