#include "bootstrap/pmix_events.hpp"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace aqueduct::bootstrap {

/// Shared with PMIx's thread, which may be handling an event when the listener is destroyed. So PMIx holds a
/// reference of its own, which is deleted when PMIx confirms that no more events will come.
struct PmixEvents::News {
  using Reference = std::shared_ptr<News>;

  News(const pmix_proc_t& of_job, std::uint32_t processes) : me(of_job), told(processes, false) {
    told.at(me.rank) = true;
  }

  const pmix_proc_t me;
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<std::size_t> handler;  // PMIx's number for the handler
  Reference* reference = nullptr;      // the one that PMIx holds
  pmix_info_t argument{};   // of the registration: PMIx may read it until it confirms the registration
  bool registered = false;  // true also after a refused registration
  bool launcher_gone = false;
  std::vector<std::uint32_t> lost;
  std::vector<bool> told;

  void lose(pmix_rank_t process) {
    if (process >= told.size() || told[process]) return;
    told[process] = true;
    lost.push_back(process);
  }

  static void on_registered(pmix_status_t status, std::size_t handler, void* reference) {
    News& news = **static_cast<Reference*>(reference);
    const std::lock_guard lock(news.mutex);
    if (status == PMIX_SUCCESS) news.handler = handler;
    news.registered = true;
    news.changed.notify_all();
  }
  static void on_deregistered(pmix_status_t, void* reference) { delete static_cast<Reference*>(reference); }
  static void on_event(std::size_t, pmix_status_t status, const pmix_proc_t* source, pmix_info_t info[],
                       std::size_t count, pmix_info_t*, std::size_t,
                       pmix_event_notification_cbfunc_fn_t go_on, void* go_on_with);
};

namespace {

/// Whether the event says that a process of the job ended abnormally.
bool means_loss(pmix_status_t status) {
  switch (status) {
    case PMIX_ERR_PROC_ABORTED:
    case PMIX_ERR_PROC_ABORTING:
    case PMIX_ERR_PROC_REQUESTED_ABORT:
    case PMIX_ERR_PROC_TERM_WO_SYNC:
    case PMIX_ERR_PROC_KILLED_BY_CMD:
    case PMIX_ERR_PROC_ABORTED_BY_SIG:
    case PMIX_ERR_PROC_SENSOR_BOUND_EXCEEDED:
    case PMIX_ERR_EXIT_NONZERO_TERM: return true;
    default: return false;
  }
}

bool is(const pmix_info_t& info, const char* key) {
  return std::strncmp(info.key, key, PMIX_MAX_KEYLEN) == 0;
}

}  // namespace

void PmixEvents::News::on_event(std::size_t, pmix_status_t status, const pmix_proc_t* source,
                                pmix_info_t info[], std::size_t count, pmix_info_t*, std::size_t,
                                pmix_event_notification_cbfunc_fn_t go_on, void* go_on_with) {
  News* news = nullptr;
  const pmix_proc_t* affected = source;
  for (std::size_t i = 0; i < count; ++i) {
    if (is(info[i], PMIX_EVENT_RETURN_OBJECT)) {
      news = static_cast<Reference*>(info[i].value.data.ptr)->get();
    } else if (is(info[i], PMIX_EVENT_AFFECTED_PROC) && info[i].value.type == PMIX_PROC) {
      affected = info[i].value.data.proc;
    }
  }
  if (news != nullptr) {
    const std::lock_guard lock(news->mutex);
    if (status == PMIX_ERR_LOST_CONNECTION || status == PMIX_ERR_LOST_CONNECTION_TO_SERVER) {
      news->launcher_gone = true;
      for (pmix_rank_t process = 0; process < news->told.size(); ++process) news->lose(process);
    } else if (means_loss(status) && affected != nullptr &&
               std::strncmp(affected->nspace, news->me.nspace, PMIX_MAX_NSLEN) == 0) {
      news->lose(affected->rank);
    }
  }
  // Every event is passed on, or no other handler would see it.
  if (go_on != nullptr) go_on(PMIX_EVENT_NO_ACTION_TAKEN, nullptr, 0, nullptr, nullptr, go_on_with);
}

PmixEvents::PmixEvents(std::shared_ptr<const PmixLibrary> pmix, const pmix_proc_t& me,
                       std::uint32_t processes)
    : pmix_(std::move(pmix)), news_(std::make_shared<News>(me, processes)) {
  auto* const reference = new News::Reference(news_);
  news_->reference = reference;
  pmix_info_t& info = news_->argument = info_of(PMIX_EVENT_RETURN_OBJECT);
  info.value.type = PMIX_POINTER;
  info.value.data.ptr = reference;
  // No codes means all events: launchers differ in which ones they send.
  pmix_->register_event_handler(nullptr, 0, &info, 1, News::on_event, News::on_registered, reference);
  std::unique_lock lock(news_->mutex);
  // PMIx's own thread registers, without asking the launcher: a moment. If it fails, only conduits notice losses.
  news_->changed.wait_for(lock, std::chrono::seconds(5), [this] { return news_->registered; });
}

PmixEvents::~PmixEvents() {
  if (!pmix_->initialized()) {  // PMIx's threads have ended
    delete news_->reference;
    return;
  }
  std::optional<std::size_t> handler;
  {
    const std::lock_guard lock(news_->mutex);
    handler = news_->handler;
  }
  if (!handler) return;  // PMIx keeps the reference, because it might still use it
  pmix_->deregister_event_handler(*handler, News::on_deregistered, news_->reference);
}

bool PmixEvents::launcher_is_gone() const {
  const std::lock_guard lock(news_->mutex);
  return news_->launcher_gone;
}

void PmixEvents::poll(const std::function<void(std::uint32_t)>& lost) {
  std::vector<std::uint32_t> news;
  {
    const std::lock_guard lock(news_->mutex);
    news.swap(news_->lost);
  }
  for (const std::uint32_t process : news) lost(process);
}

}  // namespace aqueduct::bootstrap
