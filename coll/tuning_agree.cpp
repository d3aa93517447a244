// How the members of a search agree.

#include "coll/tune/operation_word.hpp"
#include "coll/tune/tuning_file.hpp"
#include "coll/tuning_run.hpp"
#include "coll/wait_for_call.hpp"
#include "core/entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace aqueduct::coll {

namespace {

std::uint64_t mixed_words(std::uint64_t hash, std::uint64_t word) noexcept {
  hash = (hash ^ word) * 0x94d049bb133111ebu;
  return hash ^ hash >> 32;
}

}  // namespace

Status TuningRun::wait(Event& event) noexcept {
  Status status;
  {
    const core::Entry entry(state_);
    const auto begin = elapsed();
    status = wait_for_call(state_, event, patience());
    if (status) longest_ = std::max(longest_, elapsed() - begin);
  }
  return outcome(status);
}

/// Of a wait that lasted as long as patience() at the most. If a member has not come, nobody waits for it any more.
Status TuningRun::outcome(Status status) noexcept {
  // Who gives up first tells the others, so that theirs end sooner.
  if (status.code() == ErrorCode::mismatch && elapsed() >= options_.time + options_.work_limit + kSlack / 2)
    return ErrorCode::timed_out;
  if (status.code() != ErrorCode::timed_out) return status;
  {
    const core::Entry entry(state_);
    if (!engine_.broken().ok()) return status;
  }
  state_.log.error(
      "tune on a team of {} ranks: a member has not come for {} s; its work function may not have returned. "
      "Collective calls on the team fail from now on",
      team_.size(), std::chrono::duration_cast<std::chrono::seconds>(elapsed()).count());
  return give_up(ErrorCode::timed_out);
}

void TuningRun::put_words(std::span<const std::uint64_t> mine) {
  memory_->words.assign({problem_, static_cast<std::uint64_t>(elapsed().count())});
  memory_->words.insert(memory_->words.end(), mine.begin(), mine.end());
}

Status TuningRun::agreed() noexcept {
  const std::vector<std::uint64_t>& words = memory_->words;
  elapsed_ = words[1];
  if (words[0] == 0) return {};
  return {static_cast<ErrorCode>(words[0] >> 32), ~static_cast<Rank>(words[0])};
}

Status TuningRun::agree(std::span<const std::uint64_t> mine) {
  put_words(mine);
  Event event = all_reduce_nb(team_, memory_->words, ReduceOp::max);
  if (const Status status = wait(event); !status) return status;
  return agreed();
}

// All members have what was found already. So the team goes on, even if the first one does not come back from its file.
Result<bool> TuningRun::agree_on_saving(bool mine) {
  put_words(std::array{std::uint64_t{mine}});
  Event event = all_reduce_nb(team_, memory_->words, ReduceOp::max);
  {
    const core::Entry entry(state_);
    const Status status = wait_for_call(state_, event, patience() + kLockPatience);
    unfinished_ = status.code() == ErrorCode::timed_out && engine_.broken().ok();
    if (!status && !unfinished_) return status;
  }
  if (unfinished_) {
    state_.log.warn(
        "tune on a team of {} ranks: the first member has not told whether what was found is saved. The team "
        "uses it",
        team_.size());
    return false;
  }
  if (const Status status = agreed(); !status) return status;
  return memory_->words[kOwnWords] == 1;
}

Status TuningRun::agree_on_arguments(std::span<const Collective> operations,
                                     std::span<const std::uint64_t> bytes) {
  std::uint64_t hash = mixed_words(operations.size(), bytes.size());
  const auto refuse = [&](const std::string& why) {
    if (problem_ == 0) state_.log.error("tune: {}", why);
    problem(ErrorCode::invalid_argument);
  };
  const auto refuse_null = [&](const char* list, std::size_t entries) {
    refuse(fmt::format("the list `{}` is null and should have {} entries. Pass the list, or 0 entries", list,
                       entries));
  };
  // The call goes on without the list, so that all members get the error: the others wait for this one.
  if (operations.data() == nullptr && !operations.empty()) {
    refuse_null("operations", operations.size());
    operations = {};
  }
  if (bytes.data() == nullptr && !bytes.empty()) {
    refuse_null("bytes", bytes.size());
    bytes = {};
  }
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const Collective one = operations[i];
    hash = mixed_words(hash, static_cast<std::uint64_t>(one));
    if (one > Collective::exscan)
      refuse(
          fmt::format("operations[{}] is {} ({}): they may be barrier to exscan, 0 to {}. Permutes and "
                      "v-forms are not tuned",
                      i, static_cast<unsigned>(one), operation_word(static_cast<Operation>(one)),
                      static_cast<unsigned>(Collective::exscan)));
  }
  const std::uint32_t element = bytes_of_element(options_.type);
  const bool combines = std::any_of(operations.begin(), operations.end(), reduces);
  for (const std::uint64_t one : bytes) {
    hash = mixed_words(hash, one);
    if (element == 0)
      refuse("options.type is no type of elements that can be tuned");
    else if (combines && one % element != 0)
      refuse(
          fmt::format("{} bytes are no whole number of elements of {} bytes (options.type)", one, element));
  }
  const CollOptions& calls = options_.calls;
  for (const auto word : {static_cast<std::uint64_t>(options_.time.count()),
                          static_cast<std::uint64_t>(options_.work_limit.count()),
                          std::uint64_t{options_.candidates}, static_cast<std::uint64_t>(calls.in),
                          static_cast<std::uint64_t>(calls.out), static_cast<std::uint64_t>(calls.order),
                          static_cast<std::uint64_t>(options_.type), std::uint64_t{options_.exhaustive}})
    hash = mixed_words(hash, word);
  if (options_.exhaustive == 1 || options_.exhaustive > TuneOptions::kMostExhaustive)
    refuse(fmt::format("options.exhaustive is {}, and may be 0, or 2 to {} times", options_.exhaustive,
                       TuneOptions::kMostExhaustive));
  if (calls.in > Sync::all || calls.out > Sync::all || calls.order > ReduceOrder::exact)
    refuse("options.calls has a mode that does not exist");
  if (const Status status = agree(std::array{hash, ~hash, std::uint64_t{options_.work != nullptr}}); !status)
    return status;
  const std::vector<std::uint64_t>& words = memory_->words;
  overlaps_ = words[kOwnWords + 2] != 0;
  return words[kOwnWords] == ~words[kOwnWords + 1] ? Status() : Status(ErrorCode::mismatch);
}

}  // namespace aqueduct::coll
