#pragma once

#include "tools/aqrun/input.hpp"
#include "tools/aqrun/link.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace aqrun {

/// All hosts of a job that runs on others.
class Remote {
 public:
  explicit Remote(LinkJob& job) : job_(job) {}

  /// Starts a command for each host. Returns why that cannot be; then some may have been started.
  std::string start(Children& children, Input& input);

  void wait_for(std::vector<pollfd>& events) const;
  void serve();
  /// One of the commands has ended.
  void reaped(pid_t pid, int wait_status);
  void check_deadlines();
  /// When `check_deadlines` has something to do.
  std::optional<Link::Clock::time_point> deadline() const;

  /// To all ranks; hosts that have none yet will not get any.
  void signal(int number);
  /// No rank runs any more: nothing shall be left on any host.
  void clear();
  void give_up_on_uncleared();
  /// How many frames have come, from all hosts together.
  std::uint64_t heard() const;
  /// Ends the commands that are left, and says to which hosts they led.
  std::string give_up();
  bool is_cleared() const;
  bool is_gone() const;

 private:
  LinkJob& job_;
  std::vector<std::unique_ptr<Link>> links_;
};

}  // namespace aqrun
