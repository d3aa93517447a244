#include "core/settings.hpp"

#include <array>

namespace aqueduct::core {
namespace {

constexpr SettingInfo text(std::string_view name, std::string_view environment, std::string_view standard,
                           std::string_view help) {
  return {name, environment, SettingType::text, "", standard, help};
}

constexpr SettingInfo number(std::string_view name, std::string_view environment, std::string_view standard,
                             std::int64_t least, std::int64_t most, std::string_view help) {
  return {name, environment, SettingType::number, "", standard, help, least, most};
}

constexpr SettingInfo duration(std::string_view name, std::string_view environment, std::string_view unit,
                               std::string_view standard, std::string_view help) {
  return {name, environment, SettingType::duration, unit, standard, help};
}

constexpr SettingInfo choice(std::string_view name, std::string_view environment, std::string_view standard,
                             std::string_view choices, std::string_view help) {
  return {name, environment, SettingType::choice, "", standard, help, 0, INT64_MAX, choices};
}

constexpr std::array kSettings{
    text("conduit", "AQUEDUCT_CONDUIT", "auto",
         "Conduit to other ranks: auto, a conduit's name, or the path of a plug-in (with a '/')."),
    choice("near", "AQUEDUCT_NEAR", "on", "on|off", "Whether ranks of one host use the near conduit."),
    number("endpoints", "AQUEDUCT_ENDPOINTS", "1", 1, 256, "Ranks that each process holds."),
    SettingInfo{"segment_bytes", "AQUEDUCT_SEGMENT_BYTES", SettingType::bytes, "bytes", "16M",
                "Size of the primary segment of each rank."},
    number("segments", "AQUEDUCT_SEGMENTS", "16", 2, 1024, "Most segments that a job can have."),
    number("signals", "AQUEDUCT_SIGNALS", "1024", 1, 1048576, "Signal counters of each endpoint."),
    // Numbers of handlers have 16 bits, and the library's own take 16 of them (am/messages.hpp).
    number("handlers", "AQUEDUCT_HANDLERS", "256", 1, 65520, "Most active-message handlers of an endpoint."),
    number("operations", "AQUEDUCT_OPERATIONS", "1048576", 16, 16777216,
           "Events that an endpoint may hold; each that is held takes memory for its operation."),
    number("credits", "AQUEDUCT_CREDITS", "0", 0, 1024,
           "Requests in flight to one peer; 0 chooses by the number of ranks."),
    number("prepared", "AQUEDUCT_PREPARED", "16", 1, 1024, "Negotiated payload buffers of an endpoint."),
    duration("spin", "AQUEDUCT_SPIN", "us", "20us",
             "How long a wait looks, at the most, without giving up the core; it adapts below that."),
    duration("yield", "AQUEDUCT_YIELD", "ms", "1ms", "How long a wait then yields before it sleeps."),
    duration("stall_warn", "AQUEDUCT_STALL_WARN", "s", "10s",
             "After how long a wait is reported with what it waits for; 0 is never."),
    choice("log", "AQUEDUCT_LOG", "warn", "debug|info|warn|error|off",
           "The least important kind of message that is written to standard error."),
    text("host_id", "AQUEDUCT_HOST_ID", "",
         "Ranks with equal ids share a host; empty asks the system. For tests of several hosts on one."),
    choice("atomics", "AQUEDUCT_ATOMICS", "auto", "auto|processor",
           "Whether the network does the atomics it can (auto) or the owner's processor does them all."),
    choice(
        "vis_plan", "AQUEDUCT_VIS_PLAN", "auto", "auto|direct|pieces|packed|box|native",
        "How vector, indexed and strided transfers go; a plan that cannot be had for one leaves the choice."),
    choice("launcher", "AQUEDUCT_LAUNCHER", "auto", "auto|alone|aqrun|pmix|pmi1",
           "What started this process; auto sees it from the environment."),
    text("pmix_library", "AQUEDUCT_PMIX_LIBRARY", "",
         "The file of libpmix to use, should the launcher need its own; empty: libpmix.so.2, as the loader "
         "finds it."),
    text("bootstrap", "AQUEDUCT_BOOTSTRAP", "", "How to reach the launcher; the launcher sets it."),
    duration("bootstrap_timeout", "AQUEDUCT_BOOTSTRAP_TIMEOUT", "s", "60s",
             "How long to wait for the other processes at the start of a job."),
};

}  // namespace

std::span<const SettingInfo> core_settings() noexcept { return kSettings; }

}  // namespace aqueduct::core
