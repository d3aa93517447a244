#include "core/core_settings.hpp"

#include "core/setting_kinds.hpp"

#include <array>

namespace aqueduct::core {
namespace {

using setting::choice;
using setting::duration;
using setting::number;
using setting::same_on_all_ranks;
using setting::text;

constexpr std::array kCoreSettings{
    same_on_all_ranks(
        number("segments", "AQUEDUCT_SEGMENTS", "65536", 2, 1 << 20,
               "Most segments that a rank can have in its life, released ones too. Costs address space.")),
    // May differ, because the size travels with the part.
    number("signals", "AQUEDUCT_SIGNALS", "1024", 1, 1048576, "Signal counters of each endpoint."),
    // The two that follow must agree, because ranks compute from them where things are in each other's hidden memory.
    //
    // The defaults are 4.5 MiB in all, and 2.25 MiB more for a board where all ranks share a host (HiddenSizes::add_board). A thousand teams of 16 ranks then have scratch (TeamOffers::take), and the team of
    // all ranks has banks of 683 KiB. With 2M there is room for 530 such teams, with 32768 counters for 480. All of it is
    // memory from the start where a network pins pages (ibv), and with AQUEDUCT_SMP_MEMORY=posix: there pages
    // that are not reserved would make a full file system a SIGBUS at the first access. A memfd, the default of smp, takes
    // only pages that are touched.
    same_on_all_ranks(number("coll_counters", "AQUEDUCT_COLL_COUNTERS", "65536", 1024, 262144,
                             "Counters of 8 bytes that the collectives of each rank have, for all teams.")),
    same_on_all_ranks(SettingInfo{"coll_scratch", "AQUEDUCT_COLL_SCRATCH", SettingType::bytes, "bytes", "4M",
                                  "Memory for the collectives of each rank, for all teams.", 64 << 10,
                                  1 << 30}),
    number("operations", "AQUEDUCT_OPERATIONS", "1048576", 16, 16777216,
           "Events that an endpoint may hold; each that is held takes memory for its operation."),
    // May differ, because it concerns the threads of one process.
    choice("threads", "AQUEDUCT_THREADS", "single", "single|serialized|multiple",
           "Which threads may use an endpoint: one at a time, several that the program keeps apart, or any."),
    // May differ. It makes the endpoint guard itself (threads_of), as `multiple` does.
    SettingInfo{"coll_progress", "AQUEDUCT_COLL_PROGRESS", SettingType::duration, "us", "0",
                "After this time without a call, a thread goes on with collective operations. Less than 20us "
                "counts as 20us; 0: no thread does.",
                0, 3'600'000'000'000},
    duration("spin", "AQUEDUCT_SPIN", "us", "20us",
             "How long a wait spins at most before it yields the core; it adapts below that. With 3us or "
             "more, waits spin for 0.2 ms where a yield has cost a time slice."),
    duration("yield", "AQUEDUCT_YIELD", "ms", "1ms", "How long a wait then yields before it sleeps."),
    duration("stall_warn", "AQUEDUCT_STALL_WARN", "s", "10s",
             "A wait that lasts longer is reported, with what it waits for. 0: never."),
    text("network_profile", "AQUEDUCT_NETWORK_PROFILE", "",
         "A file that `aqperf calibrate` has written, or a folder of such files: Endpoint::network_model "
         "returns what it says."),
    // May differ: a program that cuts a range tells nobody into which pieces.
    SettingInfo{
        "piece_bytes_host", "AQUEDUCT_PIECE_BYTES_HOST", SettingType::bytes, "bytes", "0",
        "The piece that piece_sizes returns for ranks of this host. 0: computed from what messages cost.", 0,
        1 << 30},
    SettingInfo{
        "piece_bytes_network", "AQUEDUCT_PIECE_BYTES_NETWORK", SettingType::bytes, "bytes", "0",
        "The piece that piece_sizes returns for ranks of other hosts. 0: computed from what messages cost.",
        0, 1 << 30},
    choice("log", "AQUEDUCT_LOG", "warn", "debug|info|warn|error|off",
           "The least important kind of message that is written to standard error."),
};

}  // namespace

std::span<const SettingInfo> core_settings() noexcept { return kCoreSettings; }

}  // namespace aqueduct::core
