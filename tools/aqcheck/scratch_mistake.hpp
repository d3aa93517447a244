#pragma once

#include <aqueduct/rank.hpp>

#include <cstdint>
#include <span>

namespace aqueduct::aqcheck {

/// A mistake in the protocol of scratch, made by one member: the rules are those of docs/decisions/0067-scratch.md.
struct ScratchMistake {
  enum class Kind : std::uint8_t {
    none,
    writes_without_credit,  ///< does not ask whether the peer has finished the bank's former epoch
    starts_in_used_bank,    ///< does not ask whether it has itself
    reuses_bank_early,      ///< takes one bank more than there are for granted, at both
    counts_from_one_less,   ///< a counter's base is what it held before the last raise
    counts_from_one_more,
    drains_at_start,          ///< ends the epoch's use when the operation starts
    drains_before_arrivals,   ///< likewise when all own steps are posted
    drains_before_sources,    ///< likewise while the network still reads own puts
    calls_once_more,          ///< opens an operation that the others do not know
    keeps_portion,            ///< an operation that comes again has its old portion, also in another epoch
    forgets_a_sender,         ///< does not see who writes to it in the operation that starts
    credit_lost,              ///< the first one
    credit_to_another_peer,   ///< all of them, as those that follow
    credit_in_another_place,  ///< in the counter of the next member
    credit_twice,
    credit_for_one_more,
    round_lost,  ///< of a barrier, the first one
    round_to_another_peer,
    round_in_another_place,
    round_twice,
  };
  Kind kind = Kind::none;
  Rank member = 0;
};

/// All of them but `none`.
std::span<const ScratchMistake::Kind> scratch_mistakes() noexcept;
/// "writes without credit"
const char* name_of(ScratchMistake::Kind kind) noexcept;

}  // namespace aqueduct::aqcheck
