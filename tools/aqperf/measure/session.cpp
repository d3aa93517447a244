#include "tools/aqperf/measure/session.hpp"

#include <algorithm>
#include <cstdlib>

namespace aqueduct::perf {

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kLines = kPage;       // the lines come first, a page before the slots
constexpr std::size_t kLineDistance = 256;  // chosen: processors fetch neighbouring lines in pairs

std::size_t whole_pages(std::size_t bytes) { return std::max(kPage, (bytes + kPage - 1) / kPage * kPage); }

std::byte* pages(std::size_t bytes) {
  void* memory = std::aligned_alloc(kPage, whole_pages(bytes));
  if (memory == nullptr) throw Failure("no memory for buffers; try smaller --bytes", 1);
  std::memset(memory, 1, bytes);
  return static_cast<std::byte*>(memory);
}

}  // namespace

void Session::FreeAligned::operator()(std::byte* memory) const noexcept { std::free(memory); }

Session::Session(Endpoint& ep, const Options& options)
    : ep_(&ep),
      options_(&options),
      bytes_(whole_pages(options.largest_bytes())),
      buffer_(pages(bytes_)),
      outside_(options.outside ? pages(bytes_) : nullptr),
      control_(require(Segment::create(ep, kLines + 2 * kSlotBytes * ep.ranks()), "Segment::create")),
      data_(options.outside ? require(Segment::attach(ep, {outside_.get(), bytes_}), "Segment::attach")
                            : require(Segment::create(ep, bytes_), "Segment::create")) {
  // Touches every page, so that it is there and mapped by its users before anything is measured.
  std::memset(data_.mine().data(), 2, data_.mine().size());
  settle_on_cores();
  require(ep.barrier(), "barrier");
}

Role Session::pair() const noexcept {
  const Rank half = ranks() / 2;
  if (half == 0) return {true, true, rank()};
  if (rank() < half) return {true, false, rank() + half};
  if (rank() < 2 * half) return {false, true, rank() - half};
  return {};
}

Role Session::ring() const noexcept { return {true, true, (rank() + 1) % ranks()}; }

GlobalPtr<std::uint64_t> Session::line(Rank rank, Line line) const noexcept {
  return control_.at<std::byte>(rank, static_cast<std::uint64_t>(line) * kLineDistance).as<std::uint64_t>();
}

GlobalPtr<std::byte> Session::slot(Rank owner, Rank writer) const noexcept {
  return control_.at<std::byte>(owner, kLines + kSlotBytes * (2 * writer + round_ % 2));
}

bool Session::everyone(bool mine) {
  const auto all = exchange(static_cast<std::uint8_t>(mine));
  return std::find(all.begin(), all.end(), 0) == all.end();
}

void Session::settle_on_cores() {
  cores_ = allowed_cores();
  const auto all = exchange(cores_);
  // One machine may stand for several hosts, for example by network namespaces: those share its cores.
  const auto kernels = exchange(running_kernel());
  cpu_set_t machine;
  CPU_ZERO(&machine);
  std::vector<cpu_set_t> of_mates;
  for (Rank other = 0; other < ranks(); ++other) {
    if (kernels[other] != kernels[rank()]) continue;
    machine_mates_.push_back(other);
    of_mates.push_back(all[other]);
    CPU_OR(&machine, &machine, &all[other]);
  }
  crowded_ = machine_mates_.size() > static_cast<std::size_t>(CPU_COUNT(&machine));
  // A core set of one means that the launcher has bound this rank. Otherwise
  // two ranks could share a core for a while.
  if (crowded_ || CPU_COUNT(&cores_) == 1) return;
  // The launcher has given each rank a core of several processors: another rank's processor may be on the same core.
  if (are_apart(of_mates)) return bind_to(cores_, 0);
  const auto index = std::find(machine_mates_.begin(), machine_mates_.end(), rank()) - machine_mates_.begin();
  bind_to(machine, static_cast<std::size_t>(index));
}

}  // namespace aqueduct::perf
