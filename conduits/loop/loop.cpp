#include "conduits/loop/loop.hpp"

#include "conduits/loop/loop_network.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace aqueduct::conduits::loop {
namespace {

constexpr SettingInfo kSettings[] = {
    {.name = "loop_native",
     .environment = "AQUEDUCT_LOOP_NATIVE",
     .type = SettingType::choice,
     .unit = "",
     .default_value = "none",
     .help = "What loop offers beside packets: nothing; put, get, signals and atomics; or these and mapped "
             "memory.",
     .choices = "none|rma|all"},
    {.name = "loop_collectives",
     .environment = "AQUEDUCT_LOOP_COLLECTIVES",
     .type = SettingType::boolean,
     .unit = "",
     .default_value = "off",
     .help = "Whether loop carries out short collective operations by itself."},
    {.name = "loop_seed",
     .environment = "AQUEDUCT_LOOP_SEED",
     .type = SettingType::number,
     .unit = "",
     .default_value = "0",
     .help = "Not 0: ranks take turns and packets arrive in an order that this number decides."},
    {.name = "loop_packet",
     .environment = "AQUEDUCT_LOOP_PACKET",
     .type = SettingType::bytes,
     .unit = "bytes",
     .default_value = "1K",
     .help = "Largest packet of loop, header and payload together.",
     .least = core::kLeastPacket,
     .most = 1 << 16},
    {.name = "loop_queue",
     .environment = "AQUEDUCT_LOOP_QUEUE",
     .type = SettingType::number,
     .unit = "packets",
     .default_value = "64",
     .help = "Packets that may wait for one rank of loop; further sends are told to retry.",
     .least = 1,
     .most = 1 << 12},
};

LoopOptions options_from(const Config& config) {
  LoopOptions options;
  const std::string native = config.text("loop_native");
  if (native == "rma") options.native = LoopOptions::Native::rma;
  if (native == "all") options.native = LoopOptions::Native::all;
  options.collectives = config.flag("loop_collectives");
  options.seed = static_cast<std::uint64_t>(config.number("loop_seed"));
  options.max_packet = static_cast<std::size_t>(config.number("loop_packet"));
  options.queue = static_cast<std::size_t>(config.number("loop_queue"));
  return options;
}

core::Usability probe(const Config&) { return {true, "joins the ranks of one process; needs nothing"}; }

Result<std::unique_ptr<core::Network>> make(const core::Process& process) {
  if (process.mine.size() != process.ranks) {
    process.log->error(
        "loop: this process holds {} of the job's {} ranks, and loop joins the ranks of one process only; "
        "start all ranks in one process, or choose another conduit (AQUEDUCT_CONDUIT=smp or udp)",
        process.mine.size(), process.ranks);
    return ErrorCode::not_supported;
  }
  return std::unique_ptr<core::Network>(std::make_unique<LoopNetwork>(
      process.ranks, options_from(*process.config), process.log, process.clock));
}

}  // namespace

const core::ConduitEntry loop_entry = {
    .interface_version = core::kConduitInterface,
    .name = "loop",
    .summary = "many ranks in one process, for tests and as the example to copy",
    .crosses_hosts = false,
    .settings = kSettings,
    .probe = probe,
    .make = make,
};

}  // namespace aqueduct::conduits::loop
