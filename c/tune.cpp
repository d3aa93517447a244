#include <aqueduct/c/tune.h>
#include <aqueduct/tune.hpp>

#include "c/convert.hpp"

#include <algorithm>
#include <span>
#include <vector>

using namespace aqueduct;

namespace aqueduct::c {
namespace {

/// An enumeration of the library. A number that it does not have stays one.
template <class E>
E tuned_number(std::uint32_t value) noexcept {
  return static_cast<E>(std::min<std::uint32_t>(value, 0xff));
}

Sync tuned_sync(std::uint32_t value) noexcept {
  switch (value) {
    case AQ_SYNC_ALL: return Sync::all;
    case AQ_SYNC_MINE: return Sync::mine;
    case AQ_SYNC_NONE: return Sync::none;
    default: return tuned_number<Sync>(0xff);
  }
}

TuneOptions tune_options_of(const aq_tune_options& from) {
  TuneOptions options;
  if (from.time != 0) options.time = limit_of(from.time);
  if (from.candidates != 0) options.candidates = from.candidates;
  if (from.type != AQ_ELEMENT_BYTES) options.type = tuned_number<ElementType>(from.type);
  options.calls.in = (from.calls.flags & ~std::uint32_t{AQ_COLL_NO_TRIALS}) == 0 ? tuned_sync(from.calls.in)
                                                                                 : tuned_sync(0xff);
  options.calls.out = tuned_sync(from.calls.out);
  options.calls.order = tuned_number<ReduceOrder>(from.calls.order);
  if (from.work != nullptr) options.work = [work = from.work, context = from.context] { work(context); };
  if (from.work_limit != 0) options.work_limit = limit_of(from.work_limit);
  if (from.save != nullptr) options.save = from.save;
  return options;
}

}  // namespace
}  // namespace aqueduct::c

aq_status aq_team_tune(aq_team* team, const int* operations, size_t operation_count, const uint64_t* bytes,
                       size_t byte_count, const aq_tune_options* options, aq_tune_report* report) try {
  if (c::lacks("aq_team_tune", {{"team", team}})) return c::plain(ErrorCode::invalid_argument);
  std::vector<Collective> which;
  if (operations != nullptr)
    for (std::size_t i = 0; i < operation_count; ++i)
      which.push_back(c::tuned_number<Collective>(static_cast<std::uint32_t>(operations[i])));
  // tune() refuses null lists, by name and on all members.
  const std::span<const Collective> asked(operations != nullptr ? which.data() : nullptr, operation_count);
  const TuneOptions how = options != nullptr ? c::tune_options_of(*options) : TuneOptions();
  const auto found = tune(*reinterpret_cast<Team*>(team), asked, {bytes, byte_count}, how);
  if (found && report != nullptr) {
    const auto undecided = std::count_if(found->found.begin(), found->found.end(),
                                         [](const Tuned& one) { return !one.decided; });
    *report = {found->found.size(), static_cast<std::size_t>(undecided), found->left_out,
               found->saved ? 1 : 0, 0};
  }
  return c::plain(found.status());
} catch (const std::bad_alloc&) {
  return c::plain(ErrorCode::no_memory);
}
