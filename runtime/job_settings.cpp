#include "runtime/job_settings.hpp"

#include "core/setting_kinds.hpp"

#include <array>

namespace aqueduct::runtime {
namespace {

using core::setting::choice;
using core::setting::number;
using core::setting::same_on_all_ranks;
using core::setting::text;

constexpr std::array kJobSettings{
    same_on_all_ranks(
        text("conduit", "AQUEDUCT_CONDUIT", "auto",
             "Conduit to other ranks: auto, a conduit's name, or the path of a plug-in (with a '/').")),
    same_on_all_ranks(
        choice("near", "AQUEDUCT_NEAR", "on", "on|off", "Whether ranks of one host use the near conduit.")),
    // May differ, because the processes exchange the number at the start.
    number("endpoints", "AQUEDUCT_ENDPOINTS", "1", 1, 256, "Ranks that each process holds."),
    // May differ, because the size travels with the part.
    SettingInfo{"segment_bytes", "AQUEDUCT_SEGMENT_BYTES", SettingType::bytes, "bytes", "16M",
                "Size of the primary segment of each rank."},
    // Those that follow affect only their own process.
    text("host_id", "AQUEDUCT_HOST_ID", "",
         "Ranks with equal ids share a host; empty asks the system. For tests of several hosts on one."),
    choice("launcher", "AQUEDUCT_LAUNCHER", "auto", "auto|alone|aqrun|pmix|pmi1",
           "What started this process; auto sees it from the environment."),
    text("pmix_library", "AQUEDUCT_PMIX_LIBRARY", "",
         "The libpmix to load, for a launcher that needs its own. Empty: libpmix.so.2, as the loader finds "
         "it."),
    text("bootstrap", "AQUEDUCT_BOOTSTRAP", "", "How to reach the launcher; the launcher sets it."),
    // Waits count in milliseconds; 0 of them would fail at once.
    SettingInfo{"bootstrap_timeout", "AQUEDUCT_BOOTSTRAP_TIMEOUT", SettingType::duration, "s", "60s",
                "How long to wait for the other processes at the start of a job.", 1'000'000,
                7 * std::int64_t{86'400'000'000'000}},
    SettingInfo{
        "exit_timeout", "AQUEDUCT_EXIT_TIMEOUT", SettingType::duration, "s", "5s",
        "How long Job::leave may take in each process, for instance to flush output, before the process "
        "ends anyway.",
        1'000'000, 3'600'000'000'000},
};

}  // namespace

std::span<const SettingInfo> job_settings() noexcept { return kJobSettings; }

}  // namespace aqueduct::runtime
