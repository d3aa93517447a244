#pragma once

#include <aqueduct/rank.hpp>

#include "tests/conformance/report.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace aqueduct::conformance {

/// What a rank that a launcher has started tells the kit. Each is a line of the rank's standard output, because every
/// launcher forwards that, and other ways back differ from one to another.
struct RankLine {
  enum class Kind {
    failed,   ///< an assertion, with `report`
    skipped,  ///< the rank cannot run the case, and `report.text` says why
    ended     ///< `rank` has run the case and left the job
  };
  Kind kind = Kind::failed;
  FailureReport report;
  Rank rank = kNoRank;
};

/// The line, with its end. It is short enough for a pipe to take in one piece, so lines of ranks do not mix; a longer
/// text is cut.
std::string format_line(const RankLine& line);
/// Reads such a line, even behind a label that the launcher puts in front. Nothing if it is other output.
std::optional<RankLine> parse_line(std::string_view line);

/// Writes the line to standard output.
void tell_kit(const RankLine& line) noexcept;

}  // namespace aqueduct::conformance
