#include "coll/tuning_run.hpp"

#include "coll/tune/tuning_file.hpp"
#include "coll/wait_for_call.hpp"
#include "core/entry.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <utility>

namespace aqueduct::coll {

namespace {

/// What a wait may last longer than the whole call, before a member counts as gone. Chosen: a busy machine.
constexpr std::chrono::seconds kSlack{5};
/// The most bytes of the buffers of one operation on one member. Chosen: so that a tuned job does not swap.
constexpr std::uint64_t kMostMemory = std::uint64_t{1} << 30;
/// Words of `agree` before those that it is asked for.
constexpr std::size_t kOwnWords = 2;

std::uint64_t mixed_words(std::uint64_t hash, std::uint64_t word) noexcept {
  hash = (hash ^ word) * 0x94d049bb133111ebu;
  return hash ^ hash >> 32;
}

std::uint32_t bytes_of_element(ElementType type) noexcept {
  switch (type) {
    case ElementType::i32:
    case ElementType::u32:
    case ElementType::f32: return 4;
    case ElementType::i64:
    case ElementType::u64:
    case ElementType::f64: return 8;
    default: return 0;
  }
}

std::uint64_t as_word(ErrorCode code, Rank rank) noexcept {
  return static_cast<std::uint64_t>(code) << 32 | (rank + 1);
}

}  // namespace

TuningRun::TuningRun(Team& team, const TuneOptions& options) noexcept
    : team_(team),
      options_(options),
      state_(team.state().endpoint),
      engine_(*Collectives::engine_of(team.state())),
      begin_(state_.clock.now()) {}

// After a failure peers may still write to the buffers.
TuningRun::~TuningRun() {
  const core::Entry entry(state_);
  if (memory_ != nullptr && !engine_.broken().ok()) {
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
  return std::max<std::chrono::nanoseconds>(all - elapsed(), kSlack);
}

void TuningRun::problem(ErrorCode code) noexcept {
  if (problem_ == 0) problem_ = as_word(code, state_.rank);
}

Status TuningRun::give_up(ErrorCode why) noexcept {
  const core::Entry entry(state_);
  engine_.give_up_calls(why);
  return why;
}

Status TuningRun::wait(Event& event) noexcept {
  {
    const core::Entry entry(state_);
    const Status status = wait_for_call(state_, event, patience());
    if (status.code() != ErrorCode::timed_out || !engine_.broken().ok()) return status;
  }
  state_.log.error(
      "tune on a team of {} ranks: a member has not come for {} s; its work function may not have returned. "
      "Collective calls on the team fail from now on",
      team_.size(), std::chrono::duration_cast<std::chrono::seconds>(elapsed()).count());
  return give_up(ErrorCode::timed_out);
}

Status TuningRun::agree(std::span<const std::uint64_t> mine) {
  std::vector<std::uint64_t>& words = memory_->words;
  words.assign({problem_, static_cast<std::uint64_t>(elapsed().count())});
  words.insert(words.end(), mine.begin(), mine.end());
  Event event = all_reduce_nb(team_, words, ReduceOp::max);
  if (const Status status = wait(event); !status) return status;
  elapsed_ = words[1];
  if (words[0] == 0) return {};
  return {static_cast<ErrorCode>(words[0] >> 32), static_cast<Rank>((words[0] & 0xffff'ffff) - 1)};
}

Status TuningRun::agree_on_arguments(std::span<const Collective> operations,
                                     std::span<const std::uint64_t> bytes) {
  std::uint64_t hash = mixed_words(operations.size(), bytes.size());
  for (const Collective one : operations) {
    hash = mixed_words(hash, static_cast<std::uint64_t>(one));
    if (one < Collective::broadcast || one > Collective::exscan) problem(ErrorCode::invalid_argument);
  }
  const std::uint32_t element = bytes_of_element(options_.type);
  for (const std::uint64_t one : bytes) {
    hash = mixed_words(hash, one);
    const bool combines = std::any_of(operations.begin(), operations.end(), reduces);
    if (element == 0 || (combines && one % element != 0)) problem(ErrorCode::invalid_argument);
  }
  const CollOptions& calls = options_.calls;
  for (const auto word :
       {static_cast<std::uint64_t>(options_.time.count()),
        static_cast<std::uint64_t>(options_.work_limit.count()), std::uint64_t{options_.candidates},
        static_cast<std::uint64_t>(calls.in), static_cast<std::uint64_t>(calls.out),
        static_cast<std::uint64_t>(calls.order), static_cast<std::uint64_t>(options_.type)})
    hash = mixed_words(hash, word);
  if (calls.in > Sync::all || calls.out > Sync::all || calls.order > ReduceOrder::exact)
    problem(ErrorCode::invalid_argument);
  if (const Status status = agree(std::array{hash, ~hash}); !status) return status;
  const std::vector<std::uint64_t>& words = memory_->words;
  return words[kOwnWords] == ~words[kOwnWords + 1] ? Status() : Status(ErrorCode::mismatch);
}

/// Allocates this member's buffers too. Errors: too_large, the same on all members; no_memory.
Result<TuningRun::Call> TuningRun::call_of(Collective operation, std::uint64_t bytes) {
  Call made;
  Shape shape;
  shape.operation = operation;
  shape.in = options_.calls.in;
  shape.out = options_.calls.out;
  shape.order = reduces(operation) ? options_.calls.order : Order::any;
  shape.ranks = team_.size();
  shape.element = reduces(operation) ? bytes_of_element(options_.type) : 1;
  shape.bytes = shape.pitch = bytes;
  made.key = key_of(shape, engine_.kind());
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
  try {
    made.call.in = prepare(memory_->in, blocks_in(shape, team_.index()));
    made.call.out = prepare(memory_->out, blocks_out(shape, team_.index()));
  } catch (const std::bad_alloc&) {
    problem(ErrorCode::no_memory);
  }
  return made;
}

/// A plan for each candidate, so that measured calls choose nothing.
Status TuningRun::bind_all(const Call& call, std::span<const Timed> field, std::vector<CollPlan>& plans) {
  for (const Timed& one : field) {
    {
      const core::Entry entry(state_);
      engine_.try_out(call.key, one);
    }
    auto plan = detail::coll_bind(team_, call.call);
    {
      const core::Entry entry(state_);
      engine_.end_trial();
    }
    if (!plan) return plan.status();
    plans.push_back(std::move(*plan));
  }
  return {};
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

Result<std::uint64_t> TuningRun::measure_once(CollPlan& plan) {
  Event together = team_.barrier_nb();
  if (const Status status = wait(together); !status) return status;
  const auto before = state_.clock.now();
  Event event = plan.start();
  work();
  if (const Status status = wait(event); !status) return status;
  return static_cast<std::uint64_t>((state_.clock.now() - before) / std::chrono::nanoseconds(1));
}

Result<std::vector<Samples>> TuningRun::measure(std::span<CollPlan> plans, std::span<const std::size_t> who,
                                                std::uint32_t times) {
  std::vector<std::uint64_t> taken(who.size() * times);
  for (std::uint32_t time = 0; time < times; ++time) {
    for (std::size_t i = 0; i < who.size(); ++i) {
      // Forth and back, so that none always follows the same one.
      const std::size_t turn = time % 2 == 0 ? i : who.size() - 1 - i;
      const auto took = measure_once(plans[who[turn]]);
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

Status TuningRun::find(Collective operation, std::uint64_t bytes, std::size_t keys_left, TuneReport& report) {
  const auto all = static_cast<std::uint64_t>(std::max<std::int64_t>(options_.time.count(), 0));
  if (elapsed_ >= all || engine_.is_forced(operation)) {
    ++report.left_out;
    return {};
  }
  const auto call = call_of(operation, bytes);
  std::vector<Timed> field;
  if (call) {
    const core::Entry entry(state_);
    field = engine_.worth_measuring(call->key, std::max<std::uint32_t>(options_.candidates, 1));
  }
  if (field.empty()) {
    ++report.left_out;
    return {};
  }
  if (const Status status = agree({}); !status) return status;  // all have their memory
  std::vector<CollPlan> plans;
  if (const Status status = bind_all(*call, field, plans); !status) return status;
  const std::chrono::nanoseconds share(
      static_cast<std::int64_t>((all - std::min(all, elapsed_)) / keys_left));
  const auto found = search(field.size(), share, [&](std::span<const std::size_t> who, std::uint32_t times) {
    return measure(plans, who, times);
  });
  if (!found) return found.status();
  for (CollPlan& plan : plans) {
    if (const Status status = plan.end(); !status) return status;
  }
  Decision decision;
  decision.key = call->key;
  decision.best = field[found->best];
  decision.best.picoseconds = found->best_time * 1000;
  decision.samples = found->samples;
  Tuned tuned{operation, bytes, name_of(decision.best), {}, {}, {}, found->samples, 0, found->decided};
  tuned.median = std::chrono::nanoseconds(static_cast<std::int64_t>(found->best_time));
  tuned.tried = static_cast<std::uint32_t>(field.size());
  if (found->runner_up != found->best) {
    decision.runner_up = field[found->runner_up];
    decision.runner_up.picoseconds = found->runner_up_time * 1000;
    tuned.runner_up = name_of(decision.runner_up);
    tuned.runner_up_median = std::chrono::nanoseconds(static_cast<std::int64_t>(found->runner_up_time));
  }
  decisions_.push_back(decision);
  report.found.push_back(std::move(tuned));
  return {};
}

bool TuningRun::save() noexcept try {
  Rank other = 1;
  // The conduit that serves a pair of members as far apart as the team has.
  for (Rank i = 1; i < team_.size() && engine_.kind() == TeamKind::network; ++i) {
    if (state_.host_of[team_.rank_of(i)] != state_.host_of[state_.rank]) other = i;
  }
  const TuningPlace place{machine_kind(), state_.conduit(team_.rank_of(other)).properties().name};
  const std::string why = save_tuning(tuning_file(options_.save, place), place, decisions_);
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
  std::size_t keys_left = operations.size() * bytes.size();
  for (const Collective operation : operations) {
    for (const std::uint64_t size : bytes) {
      if (const Status status = find(operation, size, keys_left--, report); !status) return status;
    }
  }
  {
    const core::Entry entry(state_);
    std::vector<Decision> all(engine_.tuning().decisions().begin(), engine_.tuning().decisions().end());
    all.insert(all.end(), decisions_.begin(), decisions_.end());
    engine_.have_tuning(std::make_shared<const TuningTable>(engine_.tuning().models(), all));
  }
  const bool saves = team_.index() == 0 && !options_.save.empty() && !decisions_.empty();
  const std::uint64_t saved = saves && save() ? 1 : 0;
  if (const Status status = agree(std::array{saved}); !status) return status;
  report.saved = memory_->words[kOwnWords] == 1;
  return report;
}

}  // namespace aqueduct::coll
