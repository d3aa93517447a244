#include "conduits/sim/sim.hpp"

#include "conduits/sim/sim_network.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace aqueduct::conduits::sim {
namespace {

constexpr std::int64_t kMostTime = 1'000'000'000'000;  // chosen: in nanoseconds, far from where sums overflow

constexpr SettingInfo duration(std::string_view name, std::string_view environment, std::string_view standard,
                               std::string_view help, std::int64_t least = 0) {
  return {.name = name,
          .environment = environment,
          .type = SettingType::duration,
          .unit = "ns",
          .default_value = standard,
          .help = help,
          .least = least,
          .most = kMostTime};
}

constexpr SettingInfo number(std::string_view name, std::string_view environment, std::string_view unit,
                             std::string_view standard, std::int64_t least, std::int64_t most,
                             std::string_view help) {
  return {.name = name,
          .environment = environment,
          .type = SettingType::number,
          .unit = unit,
          .default_value = standard,
          .help = help,
          .least = least,
          .most = most};
}

constexpr SettingInfo kSettings[] = {
    duration("sim_latency", "AQUEDUCT_SIM_LATENCY", "1us",
             "Virtual time of a message's head from port to port.", 1),
    duration("sim_overhead", "AQUEDUCT_SIM_OVERHEAD", "200ns",
             "Virtual time for which a rank's processor is busy with each message that it posts."),
    duration("sim_gap", "AQUEDUCT_SIM_GAP", "50ns",
             "Virtual time for which a rank's port is busy with each message, besides its bytes."),
    number("sim_gap_per_byte", "AQUEDUCT_SIM_GAP_PER_BYTE", "fs", "80000", 0, 1'000'000'000'000,
           "Virtual time for which a port is busy with each byte, in femtoseconds: 80000 are 12.5 GB/s."),
    duration("sim_jitter", "AQUEDUCT_SIM_JITTER", "0ns",
             "Each message flies longer, by a time between 0 and this, which sim_seed decides."),
    number("sim_loss", "AQUEDUCT_SIM_LOSS", "ppm", "0", 0, 500'000,
           "How many of a million messages are lost; sim sends them again."),
    duration("sim_retransmit", "AQUEDUCT_SIM_RETRANSMIT", "50us",
             "Virtual time after which sim sends a lost message again."),
    number("sim_seed", "AQUEDUCT_SIM_SEED", "", "1", 0, INT64_MAX,
           "Decides jitter and losses: with the same seed, a run repeats."),
    number("sim_queue", "AQUEDUCT_SIM_QUEUE", "messages", "65536", 1, 1 << 24,
           "Messages of one rank that may be under way; further posts are told to retry."),
    {.name = "sim_packet",
     .environment = "AQUEDUCT_SIM_PACKET",
     .type = SettingType::bytes,
     .unit = "bytes",
     .default_value = "4K",
     .help = "Largest packet of sim, header and payload together.",
     .least = core::kLeastPacket,
     .most = 1 << 16},
    duration("sim_poll", "AQUEDUCT_SIM_POLL", "100ns",
             "Virtual time of a poll that finds nothing; an arrival ends it early.", 1),
    duration("sim_patience", "AQUEDUCT_SIM_PATIENCE", "1s",
             "Real time for which all ranks wait for one that computes or waits outside the library."),
};

SimOptions options_from(const Config& config) {
  constexpr Picoseconds kPerNanosecond = 1000;
  const auto time = [&](const char* name) {
    return static_cast<Picoseconds>(config.nanoseconds(name)) * kPerNanosecond;
  };
  SimOptions options;
  options.latency = time("sim_latency");
  options.overhead = time("sim_overhead");
  options.gap = time("sim_gap");
  options.femtoseconds_per_byte = static_cast<std::uint64_t>(config.number("sim_gap_per_byte"));
  options.jitter = time("sim_jitter");
  options.losses = static_cast<std::uint32_t>(config.number("sim_loss"));
  options.retransmit = time("sim_retransmit");
  options.seed = static_cast<std::uint64_t>(config.number("sim_seed"));
  options.queue = static_cast<std::size_t>(config.number("sim_queue"));
  options.max_packet = static_cast<std::size_t>(config.number("sim_packet"));
  options.poll = time("sim_poll");
  options.patience = std::chrono::nanoseconds(config.nanoseconds("sim_patience"));
  return options;
}

core::Usability probe(const Config&) {
  return {true, "joins the ranks of one process in virtual time; needs nothing"};
}

Result<std::unique_ptr<core::Network>> make(const core::Process& process) {
  if (process.mine.size() != process.ranks) {
    process.log->error(
        "sim: this process holds {} of the job's {} ranks, and sim joins the ranks of one process only: "
        "start all "
        "ranks in one process (AQUEDUCT_ENDPOINTS, or Job::in_process), or choose another conduit "
        "(AQUEDUCT_CONDUIT=smp or udp)",
        process.mine.size(), process.ranks);
    return ErrorCode::not_supported;
  }
  return std::unique_ptr<core::Network>(
      std::make_unique<SimNetwork>(process.ranks, options_from(*process.config), process.log, process.clock));
}

}  // namespace

const core::ConduitEntry sim_entry = {
    .interface_version = core::kConduitInterface,
    .name = "sim",
    .summary = "many ranks in one process, on a simulated network in virtual time",
    .crosses_hosts = false,
    .settings = kSettings,
    .probe = probe,
    .make = make,
};

}  // namespace aqueduct::conduits::sim
