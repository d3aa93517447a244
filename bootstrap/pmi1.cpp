#include "bootstrap/pmi1.hpp"

#include "bootstrap/key_value.hpp"
#include "bootstrap/pmi1_beside_mpi.hpp"
#include "bootstrap/pmi1_wire.hpp"
#include "bootstrap/stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include <fcntl.h>

namespace aqueduct::bootstrap {
namespace {

using pmi1::Connection;
using pmi1::Line;

// The least length of values that is assumed, even if the manager announces a smaller one.
constexpr std::uint32_t kLeastValue = 64;
// Bytes of a line, with its end. Managers read lines into a buffer of 1024 bytes, whatever values they promise to take:
// Slurm's cuts longer ones in two, MPICH's client has the same limit.
constexpr std::size_t kMostLine = 1000;

class Pmi1 final : public KeyValueSpace {
 public:
  Pmi1(const Pmi1Place& place, std::chrono::milliseconds timeout, Report report)
      : place_(place), timeout_(timeout), report_(std::move(report)), manager_(place.descriptor) {}

  ~Pmi1() override {
    if (pmi1::mpi_is_here()) manager_.leave_open();
  }

  /// The opening dialogue: protocol version, longest value, name of the key-value space, the processes' nodes.
  Status greet() {
    if (!ask("cmd=init pmi_version=1 pmi_subversion=1\n", "response_to_init")) return failure_;
    const auto limits = ask("cmd=get_maxes\n", "maxes");
    if (!limits) return failure_;
    // The manager's limit includes the zero that ends a string.
    most_value_ = std::max(limits->number("vallen_max").value_or(0), kLeastValue + 1) - 1;
    const auto space = ask("cmd=get_my_kvsname\n", "my_kvsname");
    if (!space) return failure_;
    space_ = space->field("kvsname").value_or("");
    if (space_.empty())
      return fail(ErrorCode::bootstrap_failed, "the process manager at PMI_FD names no key-value space");
    const auto mapping = manager_.ask(fmt::format("cmd=get kvsname={} key=PMI_process_mapping\n", space_),
                                      "get_result", timeout_);
    if (!mapping) return trouble();
    mapping_ = mapping->field("value").value_or("");  // not every manager has it
    return {};
  }

  std::string_view launcher() const noexcept override { return "pmi1"; }
  std::uint32_t process() const noexcept override { return place_.process; }
  std::uint32_t processes() const noexcept override { return place_.processes; }
  std::string host() const override {
    const auto node = pmi1::node_of(mapping_, place_.process);
    return node ? fmt::format("node {}", *node) : "";
  }
  bool knows_as_neighbour(std::uint32_t process) const override {
    const auto node = pmi1::node_of(mapping_, process);
    return node && node == pmi1::node_of(mapping_, place_.process);
  }

  Status put(std::string_view name, std::span<const std::byte> value, Audience) override {
    // The first piece says how many pieces there are.
    const std::string letters = pmi1::to_letters(value);
    const auto line_with = [&](std::size_t piece, std::string_view piece_value) {
      return fmt::format("cmd=put kvsname={} key={} value={}\n", space_,
                         piece_name(place_.process, name, piece), piece_value);
    };
    const std::size_t around = line_with(999'999, "").size();  // the longest key
    const std::size_t most = std::min(most_value_, kMostLine - std::min(around, kMostLine / 2));
    const std::size_t room = most - std::min<std::size_t>(most / 2, 16);
    const std::size_t pieces = letters.size() / room + 1;
    for (std::size_t i = 0; i < pieces; ++i) {
      const std::string head = i == 0 ? fmt::format("{}.", pieces) : "";
      const auto done = ask(line_with(i, head + letters.substr(i * room, room)), "put_result");
      if (!done) return failure_;
    }
    return {};
  }

  Status fence() override {
    if (!ask("cmd=barrier_in\n", "barrier_out")) return failure_;
    return {};
  }

  Result<std::vector<std::byte>> get(std::uint32_t process, std::string_view name) override {
    std::string letters;
    std::uint32_t pieces = 1;
    for (std::uint32_t i = 0; i < pieces; ++i) {
      const auto found =
          ask(fmt::format("cmd=get kvsname={} key={}\n", space_, piece_name(process, name, i)), "get_result");
      if (!found) return failure_;
      // A field's name ends at its first '=': everything behind "value=" is the value, even another '='.
      const std::string_view value = found->field("value").value_or("");
      const auto point = i == 0 ? value.find('.') : 0;
      if (i == 0) {
        const auto count = Line("n=" + std::string(value.substr(0, point))).number("n");
        if (point == std::string_view::npos || !count || *count == 0) return unreadable(process, name);
        pieces = *count;
      }
      letters += i == 0 ? value.substr(point + 1) : value;
    }
    auto bytes = pmi1::from_letters(letters);
    if (!bytes) return unreadable(process, name);
    return std::move(*bytes);
  }

  void poll_losses(const std::function<void(std::uint32_t)>& lost) noexcept override {
    // PMI-1 does not report single losses: its managers end the whole job. But a manager itself may end.
    if (left_ || told_of_end_ || !manager_.is_closed()) return;
    told_of_end_ = true;
    if (report_) report_(kLauncherEndedAllLost);
    for (std::uint32_t process = 0; process < place_.processes; ++process) {
      if (process != place_.process) lost(process);
    }
  }
  void leave() noexcept override {
    left_ = true;
    if (pmi1::mpi_is_here()) return pmi1::finalize_at_exit(manager_.file());
    // Waits for the acknowledgement: without it, the manager may treat this process as one that died.
    static_cast<void>(manager_.ask("cmd=finalize\n", "finalize_ack", timeout_));
  }
  void abort(int exit_code, std::string_view why) noexcept override {
    const std::string start = fmt::format("cmd=abort exitcode={} message=", exit_code);
    std::string message(why.substr(0, kMostLine - start.size() - 1));
    const auto ends_field = [](char c) {
      return (c >= 0 && c <= ' ') || c == '=';
    };  // control characters too
    std::replace_if(message.begin(), message.end(), ends_field, '_');
    static_cast<void>(manager_.tell(start + message + '\n', timeout_));
  }
  // PMI-1 has no answer to an abort. Most managers kill this process meanwhile.
  void wait_for_abort() noexcept override {
    constexpr std::chrono::seconds kLongest{1};  // chosen
    manager_.wait_until_closed(StreamClock::now() + kLongest);
  }

 private:
  static std::string piece_name(std::uint32_t process, std::string_view name, std::size_t piece) {
    return fmt::format("{}.{}.{}", name, process, piece);
  }

  /// Nothing, with `failure_` set, if there is no answer or the manager refuses.
  std::optional<Line> ask(const std::string& line, std::string_view answer) {
    auto found = manager_.ask(line, answer, timeout_);
    if (!found) {
      static_cast<void>(trouble());
      return std::nullopt;
    }
    if (found->field("rc").value_or("0") != "0") {
      failure_ = fail(ErrorCode::bootstrap_failed,
                      fmt::format("the process manager at PMI_FD refuses \"{}\": {}",
                                  line.substr(0, std::min<std::size_t>(line.size() - 1, 80)), found->text()));
      return std::nullopt;
    }
    return found;
  }
  Status trouble() {
    switch (manager_.trouble()) {
      case Connection::Trouble::late:
        failure_ = fail(ErrorCode::timed_out, waited_in_vain(place_.process, timeout_,
                                                             "its process manager (PMI_FD), or for " +
                                                                 others_of(place_.processes)));
        break;
      case Connection::Trouble::garbage:
        failure_ = fail(ErrorCode::bootstrap_failed,
                        "the process manager at PMI_FD does not speak PMI-1; start the job with "
                        "mpiexec.hydra, or through PMIx (srun --mpi=pmix)");
        break;
      case Connection::Trouble::none:
      case Connection::Trouble::closed: failure_ = fail(ErrorCode::bootstrap_failed, kLauncherEnded); break;
    }
    return failure_;
  }
  Status unreadable(std::uint32_t process, std::string_view name) {
    return failure_ = fail(ErrorCode::bootstrap_failed,
                           fmt::format("the value {} of process {} cannot be read: do all processes use the "
                                       "same version of Aqueduct?",
                                       name, process));
  }
  Status fail(ErrorCode code, std::string_view why) {
    if (report_) report_(why);
    return code;
  }

  const Pmi1Place place_;
  const std::chrono::milliseconds timeout_;
  const Report report_;
  Connection manager_;
  std::size_t most_value_ = kLeastValue;
  std::string space_;
  std::string mapping_;
  Status failure_;
  bool left_ = false;
  bool told_of_end_ = false;
};

}  // namespace

Result<std::unique_ptr<Bootstrap>> from_pmi1(const Pmi1Place& place, std::chrono::milliseconds timeout,
                                             Report report) {
  if (!is_stream_socket(place.descriptor)) {
    if (report) report(no_socket(place.descriptor, "PMI_FD", "Unset it, or set AQUEDUCT_LAUNCHER=alone"));
    return ErrorCode::bootstrap_failed;
  }
  ::fcntl(place.descriptor, F_SETFD, FD_CLOEXEC);
  auto space = std::make_unique<Pmi1>(place, timeout, std::move(report));
  if (const Status status = space->greet(); !status) return status;
  return over(std::move(space));
}

}  // namespace aqueduct::bootstrap
