#include "runtime/watch_losses.hpp"

#include "am/messages.hpp"
#include "coll/barriers.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace aqueduct::runtime {

void end_if_asked(Job::Impl& job) {
  if (const auto code = job.leaving.requested()) job.leaving.end(*code, job.bootstrap.get());
  if (const auto code = job.bootstrap->exit_asked()) job.leaving.end(*code, nullptr);
}

void watch_losses(Job::Impl& job) {
  job.losses.reserve(job.bootstrap->processes());  // so that a report needs no memory
  for (auto& parts : job.endpoints) {
    parts->state.poll_losses = [&job, &state = parts->state, seen = std::size_t{0}]() mutable {
      const std::lock_guard lock(job.losses_mutex);
      job.bootstrap->poll_losses([&](std::uint32_t process) { job.losses.push_back(process); });
      end_if_asked(job);
      for (; seen < job.losses.size(); ++seen) {
        if (job.losses[seen] >= job.ranks_of.size()) continue;
        for (Rank rank : job.ranks_of[job.losses[seen]]) {
          state.peer_lost(rank);
          state.barriers->loss_news().confirm(rank);
        }
      }
      if (const Rank rank = state.barriers->unreachable(); rank != kNoRank) state.peer_lost(rank);
      if (const Rank rank = state.messages->unreachable(); rank != kNoRank) state.peer_lost(rank);
      state.barriers->loss_news().pass_on();
      if (state.barriers->loss_news().take_cut_off()) job.bootstrap->tell_cut_off();
    };
  }
}

}  // namespace aqueduct::runtime
