#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace aqueduct::bootstrap {

/// Receives the reasons of failures, as readable text.
using Report = std::function<void(std::string_view why)>;

// Texts that the clients of all launchers share.
inline constexpr const char* kLauncherEnded = "the launcher of this job has ended";
inline constexpr const char* kLauncherEndedAllLost =
    "the launcher of this job has ended: all other processes count as lost";
inline constexpr const char* kOneJob =
    "this process has joined the job of its launcher before, or tried to, and cannot join again: keep using "
    "that Job, or set AQUEDUCT_LAUNCHER=alone for a job of this process only";
/// `for_whom`: "the other 7 processes of the job to start".
std::string waited_in_vain(std::uint32_t process, std::chrono::milliseconds limit, std::string_view for_whom);
std::string others_of(std::uint32_t processes);
/// Says that the descriptor in `variable` is not a connection. Reads errno.
std::string no_socket(int descriptor, std::string_view variable, std::string_view what_to_do);

}  // namespace aqueduct::bootstrap
