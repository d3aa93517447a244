#include "conduits/smp/smp.hpp"

#include "conduits/smp/memory.hpp"
#include "conduits/smp/smp_network.hpp"
#include "core/descriptors.hpp"

#include <algorithm>
#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

namespace aqueduct::conduits::smp {
namespace {

constexpr SettingInfo kSettings[] = {
    {"smp_memory", "AQUEDUCT_SMP_MEMORY", SettingType::choice, "", "memfd",
     "What shared memory is made of: memfd leaves no files behind; posix is for systems that hide "
     "/proc/PID/fd.",
     0, 0, "memfd|posix"},
    {"smp_directory", "AQUEDUCT_SMP_DIRECTORY", SettingType::text, "", "/dev/shm",
     "The folder of posix shared memory; it must be a tmpfs."},
    {"smp_huge_pages", "AQUEDUCT_SMP_HUGE_PAGES", SettingType::choice, "", "auto",
     "Huge pages for shared memory: auto asks for transparent ones, hugetlb takes reserved ones, off takes "
     "neither.",
     0, 0, "auto|hugetlb|off"},
    {"smp_cma", "AQUEDUCT_SMP_CMA", SettingType::boolean, "", "on",
     "Whether the system's cross-memory calls may serve memory that cannot be mapped."},
    {"smp_progress", "AQUEDUCT_SMP_PROGRESS", SettingType::duration, "ms", "10ms",
     "After this time without a call, a thread answers other processes in a rank's place: atomics on "
     "attached memory, puts and gets of single words. 0: never.",
     0, 3'600'000'000'000},
    {"smp_slots", "AQUEDUCT_SMP_SLOTS", SettingType::number, "packets", "0",
     "Packets that the ring between two ranks holds. 0 chooses by the number of ranks.", 0, 1 << 20},
    {"smp_ring_bytes", "AQUEDUCT_SMP_RING_BYTES", SettingType::bytes, "bytes", "0",
     "Bytes of longer packets that a ring holds, four times the largest packet. 0 chooses by the number of "
     "ranks.",
     0, 1 << 30},
};

core::Usability probe(const Config& config) {
  const int fd = core::above_standard(::memfd_create("aqueduct-probe", MFD_CLOEXEC));
  if (fd < 0 && config.text("smp_memory") == "memfd") {
    return {false, std::string("this system has no memfd (") + std::strerror(errno) +
                       "); use AQUEDUCT_SMP_MEMORY=posix"};
  }
  if (fd >= 0) ::close(fd);
  return {true, "for ranks of one host: shared memory by " + config.text("smp_memory")};
}

Result<std::unique_ptr<core::Network>> make(const core::Process& process) {
  const auto bytes = process.config->number("smp_ring_bytes");
  if (bytes != 0 && static_cast<std::size_t>(bytes) < 4 * core::kLeastPacket) {
    process.log->error("AQUEDUCT_SMP_RING_BYTES is {}: it must be 0 or at least {}", bytes,
                       4 * core::kLeastPacket);
    return ErrorCode::bad_setting;
  }
  const std::uint32_t host = process.host[process.mine.front()];
  if (const auto local = std::ranges::count(process.host, host); local > 256) {
    process.log->error(
        "smp serves 256 ranks of a host, not {}: start fewer, or let another conduit serve them "
        "(AQUEDUCT_NEAR=off; AQUEDUCT_CONDUIT=loop, if one process holds all ranks)",
        local);
    return ErrorCode::not_supported;
  }
  return std::unique_ptr<core::Network>(std::make_unique<SmpNetwork>(process));
}

}  // namespace

const core::ConduitEntry smp_entry{
    .name = "smp",
    .summary = "processes and threads of one host, through shared memory",
    .crosses_hosts = false,
    .settings = kSettings,
    .probe = probe,
    .make = make,
};

}  // namespace aqueduct::conduits::smp
